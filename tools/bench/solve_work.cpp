#include "tools/bench/solve_work.hpp"

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/policy_source.hpp"
#include "env/sim/simulator.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/simulation_work.hpp"

namespace berth::bench {
namespace {

template <class Source>
double TimeOf(Source source, const ClusterView& view) {
  source.Reset(view);
  gavel::Allocation x;
  const double begin = CpuSeconds();
  source.Allocate(view, view.active(), x);
  const double seconds = CpuSeconds() - begin;
  if (source.fall_backs() > 0) throw Error("the policy found no answer");
  return seconds;
}

}  // namespace

Scenario SolveInstance(int jobs) {
  const int gpus = jobs / 4;
  return Generated(Join("synthetic(rate=0,jobs=", jobs, ")"),
                   Join("v100=", gpus, ",p100=", gpus, ",k80=", gpus), {});
}

std::vector<double> SolveTimes(const gavel::ObjectiveInfo& objective, bool packed, const Scenario& scenario,
                               int repeats) {
  Simulator simulator(scenario);
  if (!simulator.AdvanceToDecision()) throw Error("the workload has no decision");
  const ClusterView view = simulator.View(Knowledge::kOracle);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Params params(Spec{}, objective.params);
    if (packed) {
      seconds.push_back(TimeOf(
          gavel::PackedAllocations("bench", objective.fall_back, objective.make_packed({}, params)), view));
    } else {
      seconds.push_back(
          TimeOf(gavel::PolicyAllocations("bench", objective.fall_back, objective.make({}, params)), view));
    }
  }
  return seconds;
}

std::vector<double> SolveMaxMin(const Scenario& scenario, int repeats) {
  return SolveTimes(gavel::MaxMinObjective(), /*packed=*/false, scenario, repeats);
}

}  // namespace berth::bench
