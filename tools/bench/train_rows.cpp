// Training end to end: acting, environments, learning.
#include <memory>
#include <thread>
#include <vector>

#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/train_work.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

double PerCpuSecond(const BenchTrainOutcome& outcome) {
  return static_cast<double>(outcome.steps) / outcome.cpu_s;
}

// Shares of the stages by wall time (runner prints them), and what the multiply-adds alone allow.
Json DetailOf(const BenchTrainOutcome& outcome) {
  const double stages = outcome.env_s + outcome.act_s + outcome.learn_s;
  const auto share = [&](double s) { return stages > 0.0 ? s / stages : 0.0; };
  const double apart = outcome.passes_s + outcome.loss_s + outcome.optimise_s;
  Json stage = {{"environment", share(outcome.env_s)}, {"acting", share(outcome.act_s)}};
  if (apart > 0.0) {
    stage["passes"] = share(outcome.passes_s);
    stage["loss"] = share(outcome.loss_s);
    stage["optimiser"] = share(outcome.optimise_s);
    stage["rest of learning"] = share(outcome.learn_s - apart);
  } else {
    stage["learning"] = share(outcome.learn_s);
  }
  return {{"steps", outcome.steps},
          {"updates", outcome.updates},
          {"stages", stage},
          {"multiply_adds_per_step", outcome.multiply_adds_per_step},
          {"gemm_gflops", outcome.gemm_gflops},
          {"bound_steps_per_cpu_s", outcome.bound_steps_per_cpu_s},
          {"last_return", outcome.last_return}};
}

Measured MeasureCase(const char* name, const BenchSetup& setup) {
  const TrainCase& of = FindTrainCase(name);
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    const BenchTrainOutcome outcome = Train(of, of.steps, 1, static_cast<std::uint64_t>(repeat));
    measured.values.push_back(PerCpuSecond(outcome));
    measured.detail = DetailOf(outcome);
  }
  return measured;
}

Measured TwoThreads(const char* name, const BenchSetup& setup) {
  if (std::thread::hardware_concurrency() < 2) throw CannotRun("needs two cores");
  const TrainCase& of = FindTrainCase(name);
  Measured measured;
  std::vector<double> given, overhead;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    const auto seed = static_cast<std::uint64_t>(repeat);
    const BenchTrainOutcome one = Train(of, of.steps, 1, seed), two = Train(of, of.steps, 2, seed);
    measured.values.push_back(PerSecond(two) / PerSecond(one));
    given.push_back(two.cpu_s / two.wall_s);
    overhead.push_back(PerCpuSecond(one) / PerCpuSecond(two));
  }
  measured.detail = {{"cores_given_to_two", SpreadOf(given).median},
                     {"cpu_s_two_over_one", SpreadOf(overhead).median}};
  measured.note = TwoThreadsNote(SpreadOf(given).median, SpreadOf(overhead).median);
  return measured;
}

// A network over pairs, 16 environments, against what its multiply-adds alone would take at the rate of large
// single-precision products, which is measured beside it. One rollout has 4,096 steps; the first fills queues
// and memory and is not timed. On the default workload, or on the task "pairs".
Measured OverPairs(const BenchSetup& setup, const char* network, bool default_workload, std::int64_t steps) {
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    std::unique_ptr<BatchEnv> env;
    if (default_workload) env = DefaultEnv(/*num_envs=*/16, /*threads=*/1);
    BenchTrainRequest request;
    request.agent = "ppo(epochs=4,target_kl=0)";
    request.network = network;
    request.env = env.get();
    request.task = "pairs";
    request.num_envs = 16;
    request.warmup_steps = 4096;
    request.steps = steps;
    request.seed = static_cast<std::uint64_t>(repeat);
    const BenchTrainOutcome outcome = Learners().bench_training(request);
    if (outcome.bound_steps_per_cpu_s == 0.0)
      throw CannotRun("the learners do not count the multiply-adds of this network");
    measured.values.push_back(PerCpuSecond(outcome) / outcome.bound_steps_per_cpu_s);
    measured.detail = DetailOf(outcome);
    measured.note =
        Join(static_cast<std::int64_t>(PerCpuSecond(outcome)), " steps per CPU-second; ",
             static_cast<std::int64_t>(outcome.bound_steps_per_cpu_s), " allowed by its multiply-adds at ",
             static_cast<std::int64_t>(outcome.gemm_gflops), " GFLOP/s");
  }
  return measured;
}

// Steps a second beside four processes that only burn CPU time, over what a fair share of the cores would
// give: as much for each of our threads as a neighbour had. Nothing is lost by waiting for one another at 1.
Measured Neighbours(const BenchSetup& setup) {
  const TrainCase& of = FindTrainCase("ppo_b");
  const int threads = 2;
  Learners();
  Measured measured;
  std::vector<double> shares, own, overhead;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    const auto seed = static_cast<std::uint64_t>(repeat);
    const BenchTrainOutcome alone = Train(of, of.steps, 1, seed);
    const int count = 4;
    const BusyNeighbours neighbours(count);
    std::vector<double> wall, cpu;  // as the clock starts, and as it stops
    const BenchTrainOutcome beside = Train(of, of.steps, threads, seed, [&] {
      wall.push_back(WallSeconds());
      cpu.push_back(neighbours.CpuSeconds());
    });
    const double share = (cpu.at(1) - cpu.at(0)) / ((wall.at(1) - wall.at(0)) * count);
    measured.values.push_back(PerSecond(beside) / (PerCpuSecond(alone) * share * threads));
    shares.push_back(share);
    own.push_back(beside.cpu_s / (beside.wall_s * threads));
    overhead.push_back(PerCpuSecond(alone) / PerCpuSecond(beside));
  }
  measured.detail = {{"threads", threads},
                     {"neighbours", 4},
                     {"share_of_a_neighbour", SpreadOf(shares).median},
                     {"share_of_a_thread", SpreadOf(own).median},
                     {"cpu_s_beside_over_alone", SpreadOf(overhead).median}};
  return measured;
}

template <int kCase>
Measured TrainCaseOf(const BenchSetup& setup) {
  constexpr const char* kNames[] = {"ppo_a", "ppo_b", "ppo_c", "ppo_d", "dqn_cartpole", "dqn_synthetic"};
  return MeasureCase(kNames[kCase], setup);
}

constexpr BenchRow kTrainRows[] = {
    {"train/ppo_a", "masked PPO, synthetic task, 64x64, 8 environments, minibatches of 256, 4 epochs",
     "steps/CPU-s", Bound::kAtLeast, 75e3, 0, TrainCaseOf<0>},
    {"train/ppo_b", "the same with 256 environments, minibatches of 2,048", "steps/CPU-s", Bound::kAtLeast,
     95e3, 0, TrainCaseOf<1>},
    {"train/ppo_c", "as ppo_a with 256x256", "steps/CPU-s", Bound::kAtLeast, 13.5e3, 0, TrainCaseOf<2>},
    {"train/ppo_d", "as ppo_b with 256x256", "steps/CPU-s", Bound::kAtLeast, 15e3, 0, TrainCaseOf<3>},
    {"train/ppo_b_two_threads", "ppo_b on two threads against one, wall time", "times", Bound::kAtLeast, 1.8,
     0, [](const BenchSetup& setup) { return TwoThreads("ppo_b", setup); }},
    {"train/ppo_d_two_threads", "ppo_d on two threads against one, wall time", "times", Bound::kAtLeast, 1.8,
     0, [](const BenchSetup& setup) { return TwoThreads("ppo_d", setup); }},
    {"train/pair_scorer",
     "PPO, pair-scoring network, default workload, Q=32, G=3, 4 epochs: share of what its multiply-adds "
     "allow",
     "of bound", Bound::kAtLeast, 0.5, 0,
     [](const BenchSetup& setup) {
       return OverPairs(setup, "pair_scorer", /*default_workload=*/true, 131072);
     }},
    {"train/pair_scorer_full_queue",
     "the same on task pairs: the queue always full, every observation another", "of bound", Bound::kAtLeast,
     0.5, 0,
     [](const BenchSetup& setup) {
       return OverPairs(setup, "pair_scorer", /*default_workload=*/false, 16384);
     }},
    {"train/memory", "as pair_scorer with memory=16 (GRU), through sequences of 16 decision points",
     "of bound", Bound::kNone, 0, 0,
     [](const BenchSetup& setup) {
       return OverPairs(setup, "pair_scorer(memory=16)", /*default_workload=*/true, 131072);
     }},
    {"train/set_attention", "as pair_scorer_full_queue with set_attention: 2 blocks, width 64", "of bound",
     Bound::kAtLeast, 0.5, 0,
     [](const BenchSetup& setup) {
       return OverPairs(setup, "set_attention", /*default_workload=*/false, 8192);
     }},
    {"train/dqn_cartpole", "DQN, CartPole, 64x64, batch 32, an update every 4 steps", "steps/CPU-s",
     Bound::kAtLeast, 65e3, 0, TrainCaseOf<4>},
    {"train/dqn_synthetic",
     "DQN, synthetic task, 256x256, 8 environments, batch 256, an update every 32 steps; target: --peers",
     "steps/CPU-s", Bound::kNone, 0, 0, TrainCaseOf<5>},
    {"train/neighbours",
     "ppo_b on two threads beside 4 busy processes, of a fair share (0.8 is our own line)", "of fair",
     Bound::kAtLeast, 0.8, 0, Neighbours},
};

}  // namespace

std::span<const BenchRow> TrainRows() {
  return kTrainRows;
}

}  // namespace berth::bench
