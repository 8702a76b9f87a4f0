#include "tests/learn/trained_ranks.hpp"

#include <cmath>
#include <exception>
#include <thread>

#include "agents/ranks/ranks.hpp"
#include "data/hdf5_file.hpp"
#include "tests/catch.hpp"
#include "tests/free_port.hpp"
#include "tests/learn/toy_envs.hpp"

namespace berth::test {
namespace {

TrainRequest RequestOf(const Plan& plan, BatchEnv& env, Trained& trained) {
  TrainRequest request;
  request.agent = plan.agent;
  request.network = plan.network;
  request.env = &env;
  request.steps = plan.steps;
  request.seed = 5;
  request.device = plan.device;
  request.out_dir = plan.out;
  request.resume = plan.resume;
  request.on_progress = [&trained](const TrainProgress& now) {
    for (const auto& [name, value] : now.losses) trained.figures[name] = value;
    trained.figures["steps"] = static_cast<double>(now.steps);
    trained.figures["episodic_return"] = now.recent_return;
  };
  return request;
}

}  // namespace

bool HasGloo() {
  return DescribeProcessGroups().rfind("none", 0) != 0;
}

std::unique_ptr<BatchEnv> Cluster(int envs, int first_env, int all_envs) {
  return ToyEnv(SmallMdp(), envs, 5, first_env, all_envs);
}
std::unique_ptr<BatchEnv> SameEverywhere(int envs, int, int) {
  return std::make_unique<TableEnv>(Ring(1, 0.9), envs);
}

Trained TrainAlone(const Plan& plan) {
  Trained trained;
  const std::unique_ptr<BatchEnv> env = plan.env(plan.envs, 0, plan.envs);
  trained.outcome = Train(RequestOf(plan, *env, trained));
  return trained;
}

Trained TrainRanks(const Plan& plan, int ranks) {
  const int port = FreePort();
  std::vector<Trained> trained(static_cast<std::size_t>(ranks));
  std::vector<std::exception_ptr> errors(trained.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto r = static_cast<std::size_t>(rank);
      try {
        const auto [first, end] = PartOfRank(plan.envs, rank, ranks);
        const std::unique_ptr<BatchEnv> env = plan.env(end - first, first, plan.envs);
        TrainRequest request = RequestOf(plan, *env, trained[r]);
        request.world.rank = rank;
        request.world.size = ranks;
        request.world.local_rank = rank;
        request.world.address = "127.0.0.1";
        request.world.port = port;
        request.all_envs = plan.envs;
        request.dist_timeout_s = 60.0;
        trained[r].outcome = Train(request);
      } catch (...) {
        errors[r] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  for (const Trained& of_rank : trained) CHECK(of_rank.outcome.lost == "");
  for (std::size_t r = 1; r < trained.size(); ++r) CHECK(trained[r].figures.empty());
  return trained[0];
}

void CheckSameFigures(const Trained& a, const Trained& b) {
  CHECK(a.figures.size() > 4);
  REQUIRE(a.figures.size() == b.figures.size());
  for (const auto& [name, value] : a.figures) {
    REQUIRE(b.figures.count(name) == 1);
    const double other = b.figures.at(name);
    CAPTURE(name, value, other);
    CHECK(((std::isnan(value) && std::isnan(other)) ||
           std::abs(value - other) <= 1e-5 * std::max(1.0, std::abs(value))));
  }
}

std::vector<float> Parameters(const std::string& path) {
  const h5::Reader in(path, "checkpoint", 100);
  std::vector<float> all;
  for (const std::string& name : in.Datasets()) {
    if (name.find("network/") == std::string::npos) continue;
    const auto values = in.Array<float>(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  REQUIRE(!a.empty());
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(double{a[k]} - b[k]));
  return largest;
}

void TrainTwice(Plan& plan, std::int64_t steps, const TemporaryFolder& folder) {
  plan.steps = steps;
  plan.out = folder / "straight";
  TrainRanks(plan, 2);
  plan.out = folder / "halves";
  plan.steps = steps / 2;
  TrainRanks(plan, 2);
  plan.steps = steps;
  plan.resume = true;
  TrainRanks(plan, 2);
}

}  // namespace berth::test
