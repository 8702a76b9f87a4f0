#include "tests/rule_run.hpp"

#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"

namespace berth::test {

RuleRun RunByRule(const Scenario& scenario, TickRule rule) {
  Simulator simulator(scenario);
  Auditor auditor;
  std::vector<int> gpus;
  for (const GpuType& type : scenario.data().cluster.types) gpus.push_back(type.count);
  RuleRun run;
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    run.decided_at.push_back(simulator.now());
    REQUIRE(Observe(auditor, simulator) == "");
    const ClusterView view = simulator.View(Knowledge::kNone);
    std::vector<TickJob> present;
    for (int job : view.active()) {
      const std::vector<double> rates(view.Rates(job).begin(), view.Rates(job).end());
      present.push_back(
          {job, view.Gang(job), view.TypeOf(job), view.LastTypeOf(job), view.Weight(job), rates});
    }
    const std::map<int, int> plan = Plan(rule, present, gpus);
    decision.Clear();
    for (const TickJob& job : present) {
      const auto put = plan.find(job.index);
      if (job.on >= 0 && put == plan.end()) decision.Stop(job.index), ++run.stops;
      if (job.on < 0 && put != plan.end()) decision.Start(job.index, put->second);
    }
    REQUIRE(simulator.Apply(decision).ok());
    REQUIRE(Observe(auditor, simulator) == "");
  }
  REQUIRE(simulator.finished());
  run.completion = simulator.state().completion;
  return run;
}

}  // namespace berth::test
