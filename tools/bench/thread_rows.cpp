// Two threads against one, by wall time: it stands only where nothing else runs, and says so.
#include <thread>

#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

// `work(threads)` in turn on one and on two threads.
template <class F>
Measured TwoAgainstOne(const BenchSetup& setup, const F& work) {
  if (std::thread::hardware_concurrency() < 2) throw CannotRun("needs two cores");
  Measured measured;
  std::vector<double> overhead, given;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    const Cost one = work(1), two = work(2);
    measured.values.push_back(one.wall_s / two.wall_s);
    overhead.push_back(two.cpu_s / one.cpu_s);
    given.push_back(two.cpu_s / two.wall_s);
  }
  const double cores = SpreadOf(given).median, more = SpreadOf(overhead).median;
  measured.detail = {{"cpu_s_two_over_one", more}, {"cores_given_to_two", cores}};
  measured.note = TwoThreadsNote(cores, more);
  return measured;
}

Measured TwoOnEnvironments(const BenchSetup& setup) {
  constexpr int kEnvs = 256, kSteps = 1024;
  const auto one = DefaultEnv(kEnvs, 1), two = DefaultEnv(kEnvs, 2);
  RandomActor first(*one), second(*two);
  first.Step(kSteps);
  second.Step(kSteps);
  return TwoAgainstOne(
      setup, [&](int threads) { return CostOf([&] { (threads == 1 ? first : second).Step(kSteps); }); });
}

Measured Evaluation(const BenchSetup& setup) {
  EvaluationPlan plan = EvaluationRuns(1);
  return TwoAgainstOne(setup, [&](int threads) {
    plan.threads = threads;
    return CostOf([&] { Evaluate(plan); });
  });
}

constexpr BenchRow kThreadRows[] = {
    {"threads/env", "VecEnv of 256 environments on two threads against one, wall time", "times",
     Bound::kAtLeast, 1.8, 0, TwoOnEnvironments},
    {"threads/evaluate", "64 evaluation runs on two threads against one, wall time", "times", Bound::kAtLeast,
     1.8, 0, Evaluation},
};

}  // namespace

std::span<const BenchRow> ThreadRows() {
  return kThreadRows;
}

}  // namespace berth::bench
