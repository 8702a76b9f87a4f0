#include "tools/reproduce/finished_run.hpp"

#include "env/base/check.hpp"

namespace berth {

Simulator FinishedRun(const Scenario& scenario, Scheduler& scheduler, Window window) {
  Simulator sim(scenario, {.stop_after_first = window.begin, .stop_after_last = window.end});
  scheduler.Reset(sim.View(scheduler.knowledge()));
  Decision decision;
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    scheduler.Decide(sim.View(scheduler.knowledge()), decision);
    const ApplyResult applied = sim.Apply(decision);
    BERTH_CHECK(applied.ok(), Explain(applied, decision, sim));
  }
  return sim;
}

}  // namespace berth
