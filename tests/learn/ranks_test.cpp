// Several ranks of one training against one process with all environments. The ranks are threads of this
// process, which meet over TCP and Gloo as processes do (tests/several_processes_test.cpp starts those).
#include "agents/ranks/ranks.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "agents/gpu/device.hpp"
#include "agents/learner/joined_rollout.hpp"
#include "agents/train/trainer.hpp"
#include "data/hdf5_file.hpp"
#include "tests/catch.hpp"
#include "tests/free_port.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

bool HasGloo() {
  return DescribeProcessGroups().rfind("none", 0) != 0;
}
constexpr const char* kNeedsGloo = "needs libgloo-dev when it is built (tools/setup)";

// Fused and autograd, with schedules, an early stop and minibatches that do not divide.
constexpr const char* kPpo = "ppo(n_steps=16,minibatch=20,epochs=3,lr=0.01,target_kl=0.005)";
constexpr const char* kAutograd = "ppo(n_steps=16,minibatch=20,epochs=2,lr=0.01,fused=false)";
constexpr const char* kReinforce = "reinforce(n_steps=16,normalize_advantage=true)";
// What falls with the share of the steps that is done stands still, so that a run may be cut anywhere.
constexpr const char* kDqn =
    "dqn(buffer=400,learning_starts=48,batch=16,train_freq=8,gradient_steps=2,target_interval=40,n_step=2,"
    "epsilon_start=0.3,epsilon_end=0.3)";
constexpr const char* kPrioritised =
    "dqn(buffer=400,learning_starts=48,batch=16,train_freq=8,gradient_steps=2,n_step=2,epsilon_start=0.3,"
    "epsilon_end=0.3,per_alpha=0.6,per_beta=1)";

using MakeEnv = std::function<std::unique_ptr<BatchEnv>(int envs, int first_env, int all_envs)>;

std::unique_ptr<BatchEnv> Cluster(int envs, int first_env, int all_envs) {
  return ToyEnv(SmallMdp(), envs, 5, first_env, all_envs);
}
// Every transition is the same, so that it does not matter which are drawn: what DQN learns is comparable.
std::unique_ptr<BatchEnv> SameEverywhere(int envs, int, int) {
  return std::make_unique<TableEnv>(Ring(1, 0.9), envs);
}

struct Plan {
  std::string agent = kPpo, network = "mlp(hidden=16)", out, device = "cpu";
  std::int64_t steps = 256;
  int envs = 4;
  bool resume = false;
  MakeEnv env = Cluster;
};

struct Trained {
  TrainOutcome outcome;
  std::map<std::string, double> figures;  // of the last update, as rank 0 reports them
};

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

Trained TrainAlone(const Plan& plan) {
  Trained trained;
  const std::unique_ptr<BatchEnv> env = plan.env(plan.envs, 0, plan.envs);
  trained.outcome = Train(RequestOf(plan, *env, trained));
  return trained;
}

Trained TrainRanks(const Plan& plan, int ranks) {
  const int port = test::FreePort();
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

// To 1e-5 of the larger of 1 and the figure: gradients are added in another order. Both NaN is the same.
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

// What stands in for NCCL: memory of the host, a sum is done when every rank has come to it.
struct Rounds {
  struct Round {
    std::vector<double> sum;
    int came = 0;
  };
  std::mutex mutex;
  std::vector<Round> rounds;
  int size = 0, left = 0, aborted = 0;
  bool fails = false, hangs = false;
};
Rounds* rounds = nullptr;

class StandInSums final : public cuda::CardSums {
 public:
  void Sum(float* values, std::int64_t count) override { Add(values, count); }
  void Sum(double* values, std::int64_t count) override { Add(values, count); }
  bool Done() override {
    const std::lock_guard lock(rounds->mutex);
    if (rounds->hangs) return false;
    while (!pending_.empty() && rounds->rounds[done_].came == rounds->size) {
      pending_.front()(rounds->rounds[done_++].sum);
      pending_.erase(pending_.begin());
    }
    return pending_.empty();
  }
  void Leave() noexcept override {
    const std::lock_guard lock(rounds->mutex);
    ++rounds->left;
  }
  void Abort() noexcept override {
    const std::lock_guard lock(rounds->mutex);
    ++rounds->aborted;
  }

 private:
  template <class T>
  void Add(T* values, std::int64_t count) {
    const std::lock_guard lock(rounds->mutex);
    if (rounds->rounds.size() == at_)
      rounds->rounds.push_back({std::vector<double>(static_cast<std::size_t>(count))});
    Rounds::Round& round = rounds->rounds[at_++];
    ++round.came;
    for (std::size_t k = 0; k < round.sum.size(); ++k) round.sum[k] += static_cast<double>(values[k]);
    pending_.push_back([values](const std::vector<double>& sum) {
      for (std::size_t k = 0; k < sum.size(); ++k) values[k] = static_cast<T>(sum[k]);
    });
  }
  std::size_t at_ = 0, done_ = 0;
  std::vector<std::function<void(const std::vector<double>&)>> pending_;
};

constexpr cuda::CudaLibrary kStandIn = {
    cuda::kCudaLibraryVersion,
    nullptr,
    nullptr,
    nullptr,
    [](int card) { return cuda::CardId{static_cast<std::uint8_t>(card)}; },
    [](c10d::Store* store, int rank, int, int) -> std::unique_ptr<cuda::CardSums> {
      store->set("here/" + std::to_string(rank), std::string("1"));
      if (rounds->fails) throw std::runtime_error("unhandled cuda error\nand a stack");
      return std::make_unique<StandInSums>();
    }};

// Two ranks, each with a card; what each says where it fails.
std::vector<std::string> WithCards(double timeout_s,
                                   const std::function<void(int rank, ProcessGroup& group)>& run) {
  const int port = test::FreePort();
  std::vector<std::string> said(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      World world;
      world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
      try {
        const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, timeout_s, {}, {rank, &kStandIn});
        run(rank, *group);
      } catch (const Error& error) {
        said[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

// Two ranks, in one go (FOLDER/straight), and to half of the steps and on (FOLDER/halves); leaves `plan` as
// that of the last training, which resumes.
void TrainTwice(Plan& plan, std::int64_t steps, const test::TemporaryFolder& folder) {
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

}  // namespace

TEST_CASE("ranks: what is on GPUs is summed by NCCL where every rank has it and a GPU of its own") {
  const CardFacts a = {1, {1}}, b = {1, {2}}, without = {0, {3}};
  CHECK(WhyNotNccl(std::vector<CardFacts>{a, b}) == "");
  CHECK_THAT(WhyNotNccl(std::vector<CardFacts>{a, without, b}),
             Catch::Contains("rank 1's build has no NCCL"));
  CHECK_THAT(WhyNotNccl(std::vector<CardFacts>{a, b, a}), Catch::Contains("ranks 0 and 2 share a GPU"));
  CHECK(CardOf(0, 4) == 0);
  CHECK(CardOf(3, 4) == 3);
  CHECK(CardOf(3, 1) == 0);  // each process is shown its own
  CHECK_THROWS_WITH(CardOf(4, 4), "LOCAL_RANK: expected 0 to 3, since this machine has 4 GPUs, found 4");
}

TEST_CASE(
    "ranks: sums on the device are waited for until a rank is lost, not for ever (NCCL by a stand-in)") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  {
    Rounds summed;
    summed.size = 2, rounds = &summed;
    const auto said = WithCards(30.0, [](int rank, ProcessGroup& group) {
      CHECK(group.Gradients() == "NCCL");
      CHECK(group.SumsInPlace());
      std::vector<float> gradient = {1.0F + static_cast<float>(rank), 0.5F};
      std::vector<double> moments = {0.25, 2.0 * rank}, figures = {10.0 + rank};
      group.SumOnDevice(gradient.data(), 2);
      group.SumOnDevice(moments.data(), 2);
      group.Settle(figures);
      CHECK(gradient == std::vector<float>{3.0F, 1.0F});
      CHECK(moments == std::vector<double>{0.5, 2.0});
      CHECK(figures == std::vector<double>{21.0});
      group.Finish();
    });
    CHECK(said == std::vector<std::string>{"", ""});
    CHECK(summed.left == 2);
    CHECK(summed.aborted == 0);
  }
  {  // NCCL cannot: every rank says what the first one found
    Rounds failing;
    failing.size = 2, failing.fails = true, rounds = &failing;
    for (const std::string& said : WithCards(30.0, [](int, ProcessGroup&) {}))
      CHECK_THAT(said, Catch::Contains("NCCL: expected to connect 2 GPUs, found: unhandled cuda error"));
  }
  {  // a sum that never ends: aborted, and said
    Rounds hanging;
    hanging.size = 2, hanging.hangs = true, rounds = &hanging;
    const auto said = WithCards(1.0, [](int, ProcessGroup& group) {
      float value = 1.0F;
      double figure = 1.0;
      group.SumOnDevice(&value, 1);
      group.Settle(std::span(&figure, 1));
    });
    for (const std::string& line : said) CHECK_THAT(line, Catch::Contains("a sum over the GPUs did not end"));
    CHECK(hanging.aborted == 2);
  }
  {  // rank 1 ends: rank 0 is told by Gloo, though NCCL says nothing
    Rounds lost;
    lost.size = 2, rounds = &lost;
    const auto said = WithCards(30.0, [](int rank, ProcessGroup& group) {
      if (rank == 1) return group.Abandon("out of memory on the device");
      float value = 1.0F;
      double figure = 1.0;
      group.SumOnDevice(&value, 1);
      group.Settle(std::span(&figure, 1));
    });
    CHECK_THAT(said[0], Catch::Contains("rank 1 ended: out of memory on the device"));
    CHECK(lost.aborted == 2);
  }
}

TEST_CASE("ranks: rows of a minibatch are found again among a rank's own") {
  // Two steps of five environments, of which rank 1 of 2 has 2, 3 and 4: row t * 5 + i is its t * 3 + i - 2.
  // The groups are {0, 5} of environment 0, {3}, {7} of environment 2 and {4, 9}.
  class Pair final : public ProcessGroup {
   public:
    Pair() { world_.rank = 1, world_.size = 2; }
    const World& world() const override { return world_; }
    void Sum(std::span<float>) override {}
    void Sum(std::span<double>) override {}
    void SumOnDevice(float*, std::int64_t) override {}
    void SumOnDevice(double*, std::int64_t) override {}
    void Settle(std::span<double>) override {}
    bool SumsInPlace() const override { return true; }
    std::string Gradients() const override { return "none"; }
    std::vector<std::uint8_t> Gather(std::span<const std::uint8_t>) override { return {}; }
    void Finish() override {}
    void Abandon(const std::string&) noexcept override {}

   private:
    World world_;
  } pair;
  const Ranks ranks(pair, 5);
  CHECK(ranks.first_env() == 2);
  CHECK(ranks.envs() == 3);
  std::vector<std::int64_t> rows = {0, 5, 3, 7, 4, 9}, begin = {0, 2, 3, 4, 6};
  std::vector<float> beside = {0, 5, 3, 7, 4, 9};
  KeepOwnRows(ranks, rows, begin, beside);
  CHECK(rows == std::vector<std::int64_t>{1, 3, 2, 5});
  CHECK(begin == std::vector<std::int64_t>{0, 1, 2, 4});
  CHECK(beside == std::vector<float>{3, 7, 4, 9});
  const std::vector<int> columns = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14};
  CHECK(ranks.OwnColumns<int>(columns) == std::vector<int>{2, 3, 4, 12, 13, 14});
  CHECK_THROWS_WITH(Ranks(pair, 1), Catch::Contains("--envs: expected at least one environment a rank"));
}

TEST_CASE("ranks: on-policy training by several ranks is that of one process with the joined batch") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  for (const char* agent : {kPpo, kAutograd, kReinforce}) {
    for (const int ranks : {2, 3}) {                // of 4 environments: 2 and 2; 1, 1 and 2
      for (const std::int64_t steps : {64, 256}) {  // after one rollout, and after four
        CAPTURE(agent, ranks, steps);
        const test::TemporaryFolder folder;
        Plan plan;
        plan.agent = agent;
        plan.steps = steps;
        plan.out = folder / "alone";
        const Trained alone = TrainAlone(plan);
        plan.out = folder / "ranks";
        const Trained joined = TrainRanks(plan, ranks);
        CHECK(joined.outcome.steps == steps);
        CheckSameFigures(alone, joined);
        const std::vector<float> a = Parameters(folder / "alone/checkpoint.h5");
        CHECK(LargestDifference(a, Parameters(folder / "ranks/checkpoint.h5")) <= 1e-5);
      }
    }
  }
}

TEST_CASE("ranks: the learner on the device, run on the CPU, is that of one process with the joined batch") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  // Whole rollouts as minibatches: ranks shuffle their own rows, one process shuffles all.
  for (const std::string more :
       {"", ",target_kl=0.003", ",overlap=true,returns=vtrace,normalize_advantage=false"}) {
    for (const int ranks : {2, 4}) {
      CAPTURE(more, ranks);
      const test::TemporaryFolder folder;
      Plan plan;
      plan.agent = "ppo(learner=device,n_steps=16,minibatch=64,epochs=3,lr=0.003" + more + ")";
      plan.out = folder / "alone";
      const Trained alone = TrainAlone(plan);
      plan.out = folder / "ranks";
      CheckSameFigures(alone, TrainRanks(plan, ranks));
      const std::vector<float> a = Parameters(folder / "alone/checkpoint.h5");
      CHECK(LargestDifference(a, Parameters(folder / "ranks/checkpoint.h5")) <= 1e-5);
    }
  }
  // The captured gradient of DQN, whose clipping is of the sum.
  Plan dqn;
  dqn.agent = std::string(kDqn);
  dqn.agent.insert(4, "learner=device,max_grad_norm=0.05,");
  dqn.env = SameEverywhere;
  CheckSameFigures(TrainAlone(dqn), TrainRanks(dqn, 2));
}

TEST_CASE("on GPUs NCCL sums what lies there, and two ranks learn what one process does") {
  DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  const cuda::CudaLibrary* library = cuda::OpenCudaLibrary(&why);
  if (library == nullptr || library->join_nccl == nullptr)
    return test::Skip("needs the preset cuda with NCCL: " + why);
  {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    const std::unique_ptr<cuda::CardSums> alone = library->join_nccl(store.get(), 0, 1, 0);
    const torch::Tensor values = torch::arange(5, torch::kCUDA).to(torch::kFloat64);
    alone->Sum(values.data_ptr<double>(), values.numel());
    while (!alone->Done()) std::this_thread::yield();
    CHECK(torch::equal(values.cpu(), torch::arange(5).to(torch::kFloat64)));
    alone->Leave();
  }
  if (torch::cuda::device_count() < 2) return test::Skip("needs two CUDA GPUs (one was tried alone)");
  const test::TemporaryFolder folder;
  Plan plan;
  plan.device = "cuda";
  plan.agent = "ppo(n_steps=16,minibatch=64,epochs=3,lr=0.0003,lr_schedule=constant)";
  plan.steps = 640;  // ten updates: the first two plainly, then captured and replayed
  plan.out = folder / "alone";
  TrainAlone(plan);
  plan.out = folder / "ranks";
  TrainRanks(plan, 2);
  CHECK(LargestDifference(Parameters(folder / "alone/checkpoint.h5"),
                          Parameters(folder / "ranks/checkpoint.h5")) <= 1e-3);
}

TEST_CASE("ranks: the learner on the device goes on from its own checkpoint, with any number of ranks") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  const test::TemporaryFolder folder;
  Plan plan;
  plan.agent = "ppo(learner=device,n_steps=16,minibatch=24,epochs=2,lr=0.003,lr_schedule=constant)";
  TrainTwice(plan, 256, folder);
  CHECK(LargestDifference(Parameters(folder / "straight/checkpoint.h5"),
                          Parameters(folder / "halves/checkpoint.h5")) == 0.0);
  plan.steps = 320;
  TrainAlone(plan);
  plan.steps = 384;
  CHECK(TrainRanks(plan, 4).outcome.steps == 384);
  // Fixed shapes are the same on every rank.
  plan.resume = false;
  plan.out = "";
  CHECK_THROWS_WITH(TrainRanks(plan, 3),
                    Catch::Contains("learner=device: expected what every rank has equally "
                                    "many of, found 4 environments (--envs), no multiple "
                                    "of 3 processes"));
}

TEST_CASE("ranks: a checkpoint of any number of ranks is continued by any other") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  const test::TemporaryFolder folder;
  Plan plan;
  // One update each by 2 ranks, 1, 3 and 2 again. Schedules are constant: a run of fewer steps falls faster.
  const int turns[] = {2, 1, 3, 2};
  plan.agent = "ppo(n_steps=16,minibatch=20,epochs=3,lr=0.01,lr_schedule=constant)";
  plan.out = folder / "turns";
  Plan whole = plan;
  whole.out = folder / "constant";
  const Trained alone = TrainAlone(whole);
  Trained last;
  for (int turn = 0; turn < 4; ++turn) {
    plan.steps = 64 * (turn + 1);
    plan.resume = turn > 0;
    last = turns[turn] == 1 ? TrainAlone(plan) : TrainRanks(plan, turns[turn]);
    CHECK(last.outcome.steps == plan.steps);
  }
  last.figures["episodic_return"] =
      alone.figures.at("episodic_return");  // of the episodes since the last --resume
  CheckSameFigures(alone, last);
  CHECK(LargestDifference(Parameters(folder / "constant/checkpoint.h5"),
                          Parameters(folder / "turns/checkpoint.h5")) <= 1e-5);
}

TEST_CASE("ranks: DQN averages what the ranks learn from replays of their own") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  for (const int ranks : {2, 3}) {  // 16 rows: 8 and 8; 5, 5 and 6
    CAPTURE(ranks);
    Plan plan;
    plan.agent = kDqn;
    plan.env = SameEverywhere;
    CheckSameFigures(TrainAlone(plan), TrainRanks(plan, ranks));
  }
}

TEST_CASE("ranks: DQN's replays are joined in its checkpoint and dealt out again") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  for (const char* agent : {kDqn, kPrioritised}) {
    CAPTURE(agent);
    const test::TemporaryFolder folder;
    Plan plan;
    plan.agent = agent;
    // The parameters show that every rank has its own replay and draws again.
    // (Priorities of new steps begin at the greatest of all ranks then, where each had its own.)
    TrainTwice(plan, 512, folder);
    const std::vector<float> straight = Parameters(folder / "straight/checkpoint.h5");
    CHECK(straight.size() > 100);
    if (std::string(agent) == kDqn)
      CHECK(LargestDifference(straight, Parameters(folder / "halves/checkpoint.h5")) == 0.0);
    // One process, and three ranks, go on from what two have saved.
    plan.steps = 576;
    TrainAlone(plan);
    plan.steps = 640;
    CHECK(TrainRanks(plan, 3).outcome.steps == 640);
    const h5::Reader in(folder / "halves/checkpoint.h5", "checkpoint", 100);
    CHECK(in.Array<std::uint64_t>("streams/explore").size() == 4);
    CHECK(in.Array<std::uint64_t>("streams/replay").size() == 3);
    // 640 steps of 4 environments: 160 instants, of which the buffer holds 100, and the present one.
    CHECK(in.Array<std::int64_t>("replay/position", 3)[2] == 404);
  }
}

TEST_CASE("ranks: settings and worlds that differ are named by every rank") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  struct Case {
    int size;          // of rank 1's world
    const char* seed;  // of rank 1
    const char* expected;
  };
  for (const Case& c : {Case{2, "8", "rank 1: --seed: expected 7 as on rank 0, found 8"},
                        Case{3, "7", "rank 1: WORLD_SIZE: expected 2 as on rank 0, found 3"}}) {
    const int port = test::FreePort();
    std::vector<std::string> said(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&said, &c, rank, port] {
        World world;
        world.rank = rank, world.size = rank == 0 ? 2 : c.size;
        world.address = "127.0.0.1", world.port = port;
        try {
          JoinProcessGroup(world, 30.0, {{"--agent", "ppo"}, {"--seed", rank == 0 ? "7" : c.seed}});
        } catch (const Error& error) {
          said[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(said[0] == c.expected);
    CHECK(said[1] == c.expected);
  }
}

TEST_CASE("ranks: a rank that finds nobody, or finds its number taken, says so") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  World world;
  world.size = 2, world.address = "127.0.0.1", world.port = test::FreePort();
  world.rank = 1;
  CHECK_THROWS_WITH(
      JoinProcessGroup(world, 0.2, {}),
      Catch::Contains("expected rank 0 to listen at 127.0.0.1:") && Catch::Contains("found nobody"));
  std::vector<std::string> said(3);
  std::vector<std::thread> threads;
  for (const std::size_t k : {0, 1, 2}) {  // ranks 0, 1 and 1 again, of 3: rank 2 never comes
    threads.emplace_back([&said, k, port = world.port] {
      World own;
      own.size = 3, own.rank = k == 0 ? 0 : 1, own.address = "127.0.0.1", own.port = port;
      try {
        JoinProcessGroup(own, 2.0, {});
      } catch (const Error& error) {
        said[k] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THAT(said[0],
             Catch::Contains("expected 3 ranks (WORLD_SIZE)") && Catch::Contains("rank 2 has not come"));
  const std::string& twice = said[1].find("taken") != std::string::npos ? said[1] : said[2];
  CHECK_THAT(twice,
             Catch::Contains("RANK: expected a number of its own for every process, found that 1 was taken"));
}

TEST_CASE("ranks: a rank that lives and does not come is named; an address that is not there is") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  const int port = test::FreePort();
  std::string said;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&said, rank, port] {
      World world;
      world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
      const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 1.0, {});
      if (rank == 1) return std::this_thread::sleep_for(std::chrono::seconds(4));  // its pulse goes on
      double value = 1.0;
      try {
        group->Sum(std::span(&value, 1));
      } catch (const LostRank& lost) {
        said = lost.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(said == "rank 1 is alive but did not come within 1 s (--dist-timeout)");
  World world;
  world.size = 2, world.address = "no-such-host.invalid", world.port = test::FreePort();
  CHECK_THROWS_WITH(
      JoinProcessGroup(world, 0.5, {}),
      Catch::StartsWith("MASTER_ADDR: expected a name of rank 0's machine, found that rank 0 does "
                        "not reach itself at no-such-host.invalid:"));
}

TEST_CASE("ranks: the store that torchrun keeps serves one start after the other") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  const int port = test::FreePort();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = true;
  options.waitWorkers = false;
  const auto torchrun = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  for (const char* restart : {"0", "1"}) {
    setenv("TORCHELASTIC_RESTART_COUNT", restart, 1);
    std::vector<double> sums(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&sums, rank, port] {
        World world;
        world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
        world.agent_store = true;
        try {
          const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 10.0, {});
          double value = 1.0 + rank;
          group->Sum(std::span(&value, 1));
          sums[static_cast<std::size_t>(rank)] = value;
          group->Finish();
        } catch (const Error& error) {
          std::printf("%s\n", error.what());  // and the sum is not there
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(sums == std::vector<double>{3.0, 3.0});
  }
  unsetenv("TORCHELASTIC_RESTART_COUNT");
}

TEST_CASE("ranks: sums and gathered blocks") {
  if (!HasGloo()) return test::Skip(kNeedsGloo);
  const int port = test::FreePort();
  std::vector<std::vector<double>> sums(3);
  std::vector<std::vector<int>> columns(3);
  std::vector<std::vector<std::vector<std::uint8_t>>> blocks(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      World world;
      world.rank = rank, world.size = 3, world.address = "127.0.0.1", world.port = port;
      const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 30.0, {});
      const auto r = static_cast<std::size_t>(rank);
      std::vector<double> values = {1.0 + rank, 0.5};
      group->Sum(std::span<double>(values));
      sums[r] = values;
      // 4 environments: rank 0 has 0, rank 1 has 1, rank 2 has 2 and 3; two steps.
      const Ranks ranks(*group, 4);
      std::vector<int> own;
      for (int t = 0; t < 2; ++t) {
        for (int i = 0; i < ranks.envs(); ++i) own.push_back(10 * t + ranks.first_env() + i);
      }
      columns[r] = ranks.JoinColumns<int>(own);
      blocks[r] = ranks.JoinBlocks(std::vector<std::uint8_t>(r, static_cast<std::uint8_t>(rank)));
      group->Finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(sums[r] == std::vector<double>{6.0, 1.5});
    CHECK(columns[r] == std::vector<int>{0, 1, 2, 3, 10, 11, 12, 13});
    CHECK(blocks[r] == std::vector<std::vector<std::uint8_t>>{{}, {1}, {2, 2}});
  }
}

}  // namespace berth
