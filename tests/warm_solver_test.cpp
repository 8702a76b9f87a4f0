// gavel(solver=warm): what starts from the last answer is as good as what starts from nothing, whatever
// happens to the jobs in between.
#include <cmath>
#include <vector>

#include "baselines/gavel/water_filling.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/gavel_objectives.hpp"

namespace berth::gavel {
namespace {

// Jobs that come and go, work and change their speed, on types of few or many GPUs.
class Changing {
 public:
  explicit Changing(std::uint32_t round) : random_(57, Purpose::kTest, Split::kTrain, round) {
    const int types = 1 + static_cast<int>(random_.Below(5)), most = 1 << random_.Below(7);
    for (int j = 0; j < types; ++j) {
      problem_.workers.push_back(1 + static_cast<int>(random_.Below(static_cast<std::uint32_t>(most))));
      problem_.price.push_back(random_.Uniform(0.5, 4.0));
      problem_.type_names.push_back("t");
    }
    problem_.tenants.push_back({});
    alike_ = random_.Below(2) == 0;
    for (int job = 0, jobs = 1 + static_cast<int>(random_.Below(60)); job < jobs; ++job) Come();
  }
  const Problem& problem() const { return problem_; }

  void Go(int job) {
    const auto drop = [job](auto& of_jobs, int width) {
      of_jobs.erase(of_jobs.begin() + job * width, of_jobs.begin() + (job + 1) * width);
    };
    for (auto* whole : {&problem_.key, &problem_.gang, &problem_.tenant}) drop(*whole, 1);
    for (auto* real : {&problem_.weight, &problem_.remaining, &problem_.since, &problem_.left}) drop(*real, 1);
    drop(problem_.throughput, problem_.types());
  }

  void Change() {
    const std::uint32_t what = random_.Below(8);
    const auto any = [this] { return static_cast<int>(random_.Below(static_cast<std::uint32_t>(problem_.jobs()))); };
    if (what < 3 || problem_.jobs() == 1) Come();
    if (what >= 3 && what < 6 && problem_.jobs() > 1) Go(any());
    if (what == 6) problem_.weight[U(any())] *= 3.0;
    if (what == 7) {  // nearly everyone is another
      for (int n = problem_.jobs() - 1; n > 0; --n) Go(0), Come();
    }
    for (int i = 0; i < problem_.jobs(); ++i) {
      problem_.remaining[U(i)] *= random_.Uniform(0.9, 1.0);
      problem_.since[U(i)] += 1.0;
    }
  }

 private:
  void Come() {
    problem_.key.push_back(next_++);
    problem_.gang.push_back(1 << random_.Below(4));
    problem_.weight.push_back(alike_ ? 1.0 + random_.Below(2) : random_.Uniform(1.0, 4.0));
    problem_.remaining.push_back(random_.Uniform(10.0, 1000.0));
    problem_.since.push_back(0.0);
    problem_.left.push_back(INFINITY);
    problem_.tenant.push_back(0);
    const auto can = static_cast<int>(random_.Below(static_cast<std::uint32_t>(problem_.types())));
    for (int j = 0; j < problem_.types(); ++j) {
      const double rate = alike_ ? 1.0 + random_.Below(3) : std::pow(10.0, random_.Uniform(-1.0, 1.0));
      problem_.throughput.push_back(j == can || random_.Below(4) > 0 ? rate : 0.0);
    }
  }

  Stream random_;
  Problem problem_;
  int next_ = 0;
  bool alike_ = false;
};

}  // namespace

TEST_CASE("warm solver: as good as one that starts from nothing", "[gavel][lp]") {
  for (const NamedObjective& row : NamedObjectives()) {
    if (!row.info.warm) continue;
    INFO(row.name);
    int compared = 0;
    for (std::uint32_t round = 0; round < 12; ++round) {
      Changing jobs(round);
      const auto warm = MakeObjective(row.info, true), cold = MakeObjective(row.info, false);
      warm->Reset(0), cold->Reset(0);
      for (int step = 0; step < 12; ++step, jobs.Change()) {
        INFO("round " << round << " step " << step);
        const Problem& problem = jobs.problem();
        Allocation of_warm, of_cold;
        REQUIRE(warm->Allocate(problem, of_warm));
        if (!cold->Allocate(problem, of_cold)) continue;  // a warm answer is one that was proven
        ++compared;
        Promise by_warm, by_cold;
        warm->Promised(problem, of_warm, by_warm);
        cold->Promised(problem, of_cold, by_cold);
        if (std::string(row.name) == "proportional_fairness") {  // a sum of logarithms, 1e-9 a job proven
          double more = 0.0;
          for (std::size_t i = 0; i < by_warm.least.size(); ++i)
            more += std::log(by_warm.least[i] / by_cold.least[i]);
          CHECK(std::abs(more) <= 2e-9 * problem.jobs());
          continue;
        }
        CHECK(ShortOf(problem, by_cold, of_warm) <= 1e-7);
        CHECK(ShortOf(problem, by_warm, of_cold) <= 1e-7);
      }
    }
    CHECK(compared >= 140);
  }
}

// So many shares that bottlenecks are found by an interior point first.
TEST_CASE("warm solver: fillings of many unlike jobs", "[gavel][lp]") {
  Stream random(58, Purpose::kTest);
  Problem all;
  constexpr int kTypes = 12, kJobs = 700, kChanges = 4;
  for (int j = 0; j < kTypes; ++j) {
    all.type_names.push_back("t");
    all.workers.push_back(10 + static_cast<int>(random.Below(80)));
  }
  for (int i = 0; i < kJobs + kChanges; ++i) {
    all.key.push_back(i), all.gang.push_back(1 << random.Below(3));
    all.weight.push_back(random.Uniform(1.0, 10.0));
    for (int j = 0; j < kTypes; ++j) all.throughput.push_back(std::pow(10.0, random.Uniform(-0.5, 0.5)));
  }
  WaterFilling warm(LpMethod::kEmbedding, kLpInfinity, /*warm=*/true);
  for (int change = 0; change <= kChanges; ++change) {  // the job that is there longest goes, another comes
    const int end = change + kJobs;
    Problem problem = all;
    problem.key.assign(all.key.begin() + change, all.key.begin() + end);
    problem.gang.assign(all.gang.begin() + change, all.gang.begin() + end);
    problem.weight.assign(all.weight.begin() + change, all.weight.begin() + end);
    problem.throughput.assign(all.throughput.begin() + change * kTypes, all.throughput.begin() + end * kTypes);
    WaterFilling cold(LpMethod::kEmbedding);
    WaterLevels of_warm, of_cold;
    REQUIRE(warm.Solve(problem, {}, of_warm));
    REQUIRE(cold.Solve(problem, {}, of_cold));
    for (std::size_t i = 0; i < of_cold.promised.size(); ++i)
      CHECK(of_warm.promised[i] == Approx(of_cold.promised[i]).epsilon(1e-7));
  }
}

}  // namespace berth::gavel
