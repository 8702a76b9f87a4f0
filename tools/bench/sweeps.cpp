#include "tools/bench/sweeps.hpp"

#include <cmath>
#include <thread>

#include "env/base/rng.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/train_work.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

Cost SimulateOnce(const Scenario& scenario, const char* scheduler) {
  return CostOf([&] { Simulate(scenario, scheduler, {}, /*repeats=*/1); });
}

// 10,800 GPUs under 480 jobs an hour: the longer, the more jobs.
Cost Jobs(int jobs, const char* scheduler, const Clock& clock) {
  return SimulateOnce(
      Generated(Join("synthetic(rate=480,jobs=", jobs, ")"), "v100=3600,p100=3600,k80=3600", clock),
      scheduler);
}

// All jobs at once on 108 GPUs: the queue is as long as there are jobs.
Cost Queue(int jobs, const char* scheduler, const Clock& clock) {
  return SimulateOnce(Generated(Join("synthetic(rate=0,jobs=", jobs, ")"), "v100=36,p100=36,k80=36", clock),
                      scheduler);
}

// 10,000 jobs at the same load for every size of cluster.
Cost Gpus(int gpus, const char* scheduler, const Clock& clock) {
  const int each = gpus / 3;
  return SimulateOnce(Generated(Join("synthetic(jobs=10000,rate=", 4.8 * gpus / 108.0, ")"),
                                Join("v100=", each, ",p100=", each, ",k80=", each), clock),
                      scheduler);
}

// 384 GPUs split into that many types; every job has its own speed on each. 80% of the cluster is asked for.
Scenario OfTypes(int types, int jobs, bool at_once) {
  constexpr int kGpus = 384;
  ScenarioData data;
  Stream stream(/*seed=*/7, Purpose::kTest, Split::kEvaluate, static_cast<std::uint32_t>(types));
  for (int g = 0; g < types; ++g) {
    GpuType type;
    type.name = Join("type", g);
    type.count = kGpus / types;
    data.cluster.types.push_back(type);
  }
  data.throughputs.gang_sizes = {1};
  double now = 0.0;
  for (int t = 0; t < 32; ++t) {
    data.throughputs.job_types.push_back(Join("job", t));
    for (int g = 0; g < types; ++g) data.throughputs.alone.push_back(stream.Uniform(0.5, 2.0));
  }
  for (int j = 0; j < jobs; ++j) {
    data.jobs.id.push_back(j);
    data.jobs.arrival.push_back(now);
    data.jobs.job_type.push_back(static_cast<int>(stream.Below(32)));
    data.jobs.gang.push_back(1);
    data.jobs.total_steps.push_back(stream.Exponential(3600.0));
    if (!at_once) now += stream.Exponential(3600.0 / (0.8 * kGpus));
  }
  return Scenario(std::move(data));
}

Cost Environments(int envs) {
  const auto env = DefaultEnv(envs, /*threads=*/1);
  RandomActor actor(*env);
  actor.Step(64);
  return CostOf([&] { actor.Step(256); });
}

Cost Threads(int threads) {
  const auto env = DefaultEnv(256, threads);
  RandomActor actor(*env);
  actor.Step(64);
  return CostOf([&] { actor.Step(1024); });
}

Cost TrainingThreads(int threads) {
  const TrainCase& of = FindTrainCase("ppo_b");
  const BenchTrainOutcome outcome = Train(of, of.steps, threads, /*seed=*/0);
  return {outcome.cpu_s, outcome.wall_s};
}

Cost EvaluationThreads(int threads) {
  const EvaluationPlan plan = EvaluationRuns(threads);
  return CostOf([&] { Evaluate(plan); });
}

std::vector<int> ThreadCounts() {
  const int most = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  std::vector<int> counts;
  for (int n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

const Clock kEvent{ClockKind::kEvent}, kRounds{ClockKind::kRounds, 360.0};

}  // namespace

std::span<const Sweep> Sweeps() {
  static const std::vector<Sweep> sweeps = {
      {"jobs/easy",
       "10,800 GPUs, 480 jobs/h, clock event, easy",
       "jobs",
       "1",
       {10000, 20000, 40000, 80000, 160000},
       [](int x) { return Jobs(x, "easy", kEvent); }},
      {"jobs/srpt",
       "the same under clock rounds(360), srpt",
       "jobs",
       "1",
       {10000, 20000, 40000, 80000},
       [](int x) { return Jobs(x, "srpt", kRounds); }},
      {"jobs/max_min",
       "the same under clock rounds(360), gavel",
       "jobs",
       "1",
       {10000, 20000, 40000},
       [](int x) { return Jobs(x, "gavel", kRounds); }},
      {"queue/fcfs",
       "all jobs at once on 108 GPUs, clock event, fcfs",
       "jobs in queue",
       "1, logs",
       {2000, 4000, 8000, 16000, 32000},
       [](int x) { return Queue(x, "fcfs", kEvent); }},
      {"queue/easy",
       "the same, easy",
       "jobs in queue",
       "1, logs",
       {2000, 4000, 8000, 16000, 32000},
       [](int x) { return Queue(x, "easy", kEvent); }},
      {"queue/sjf",
       "the same, sjf",
       "jobs in queue",
       "1, logs",
       {2000, 4000, 8000, 16000, 32000},
       [](int x) { return Queue(x, "sjf", kEvent); }},
      {"queue/srpt",
       "the same, srpt",
       "jobs in queue",
       "1, logs",
       {2000, 4000, 8000, 16000},
       [](int x) { return Queue(x, "srpt", kEvent); }},
      {"queue/conservative",
       "the same, conservative: every waiting job is planned afresh at every event until none can start",
       "jobs in queue",
       "1 to 2",
       {1000, 2000, 4000, 8000, 16000},
       [](int x) { return Queue(x, "conservative", kEvent); }},
      {"gpus/easy",
       "10,000 jobs at the same load, clock event, easy",
       "GPUs",
       "0, logs",
       {108, 432, 1728, 6912},
       [](int x) { return Gpus(x, "easy", kEvent); }},
      {"gpus/srpt",
       "the same under clock rounds(360), srpt: as many jobs in fewer rounds",
       "GPUs",
       "0 or less",
       {108, 432, 1728, 6912},
       [](int x) { return Gpus(x, "srpt", kRounds); }},
      {"types/srpt",
       "384 GPUs of so many types, 10,000 jobs at load 0.8, clock event, srpt",
       "types",
       "1",
       {3, 6, 12, 24, 48},
       [](int x) { return SimulateOnce(OfTypes(x, 10000, false), "srpt"); }},
      {"types/solve_max_min",
       "one max-min allocation for 2,000 jobs on so many types",
       "types",
       "1 to 3",
       {3, 6, 12, 24},
       [](int x) { return CostOf([&] { SolveMaxMin(OfTypes(x, 2000, true), 1); }); }},
      {"jobs/solve_max_min",
       "one max-min allocation, N/4 GPUs of each of 3 types",
       "jobs",
       "1",
       {2048, 4096, 8192, 16384, 32768},
       [](int x) {
         const Scenario scenario = SolveInstance(x);
         return CostOf([&] { SolveMaxMin(scenario, 1); });
       }},
      {"envs/step",
       "256 steps of a VecEnv of so many environments",
       "environments",
       "1",
       {16, 64, 256, 1024},
       Environments},
      {"threads/step", "1,024 steps of a VecEnv of 256 environments, wall time", "threads", "-1 where idle",
       ThreadCounts(), Threads, true},
      {"threads/train", "PPO end to end, case ppo_b, wall time", "threads", "-1 where idle", ThreadCounts(),
       TrainingThreads, true},
      {"threads/evaluate", "64 evaluation runs, wall time", "threads", "-1 where idle", ThreadCounts(),
       EvaluationThreads, true},
  };
  return sweeps;
}

}  // namespace berth::bench
