// Exported policies, torch-free: one whole decision, from the view to the commands (encode, score, fill).
#include "data/workloads.hpp"
#include "env/simulator.hpp"
#include "policies/schedulers.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/random_policy.hpp"

namespace berth::bench {
namespace {

// The default pair-scoring network, trained at Q = 32, deciding about `jobs` jobs that wait on 12 GPUs of
// each of 3 types.
Measured Decide(const BenchSetup& setup, int jobs) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  const Scenario scenario = MakeWorkload(Join("synthetic(rate=0,jobs=", jobs, ")"), settings)
                                ->Make(/*seed=*/1000, Split::kEvaluate, 0, 0);
  Simulator simulator(scenario);
  if (!simulator.AdvanceToDecision()) throw Error("the workload has no decision");
  const ClusterView view = simulator.View(Knowledge::kOracle);
  const ObservationLayout layout = ObservationV1::Layout(32, view.num_types());
  const auto scheduler = MakePolicyScheduler(
      RandomPolicy("pair_scorer", layout, layout.q * layout.g + 1, /*seed=*/1), "bench", /*sample=*/false);
  scheduler->Reset(view);
  Decision decision;
  Measured measured;
  for (const double rate : RatesPerCpuSecond(setup.seconds, setup.repeats, [&] {
         constexpr int kTimes = 16;
         for (int i = 0; i < kTimes; ++i) {
           decision.Clear();
           scheduler->Decide(view, decision);
         }
         return std::int64_t{kTimes};
       })) {
    measured.values.push_back(1e6 / rate);
  }
  measured.detail = {{"jobs", jobs}, {"types", view.num_types()}, {"commands", decision.commands.size()}};
  return measured;
}

constexpr BenchRow kRows[] = {
    {"policy/decide_32x3", "one decision of an exported pair-scoring policy, 32 jobs x 3 types", "us CPU",
     Bound::kAtMost, 20, 0, [](const BenchSetup& setup) { return Decide(setup, 32); }},
    {"policy/decide_1000x3", "the same with 1,000 jobs", "us CPU", Bound::kAtMost, 400, 0,
     [](const BenchSetup& setup) { return Decide(setup, 1000); }},
};

}  // namespace

std::span<const BenchRow> PolicyRows() {
  return kRows;
}

}  // namespace berth::bench
