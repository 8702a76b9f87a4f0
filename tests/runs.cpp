#include "tests/runs.hpp"

#include <cmath>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"

namespace berth::test {

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  return MakeScheduler(spec, tables);
}

std::vector<std::string> GavelSpecs() {
#define BERTH_NAME(name, function) #name,
  const char* const objectives[] = {BERTH_GAVEL_OBJECTIVES(BERTH_NAME)};
#undef BERTH_NAME
  std::vector<std::string> specs;
  for (const char* objective : objectives) {
    for (const char* form : {"", ",aware=false", ",packed=true"}) {
      const std::string spec = Join("gavel(objective=", objective, form, ")");
      try {
        Make(spec);
        specs.push_back(spec);
      } catch (const Error&) {  // the objective has no such form
      }
    }
  }
  return specs;
}

RunResult RunOf(const std::string& spec, const Scenario& scenario) {
  return Run(scenario, *Make(spec), spec, {.window = {}, .keep_events = true, .progress = {}});
}

Simulator RunAudited(const std::string& spec, const Scenario& scenario) {
  Simulator simulator(scenario);
  const auto scheduler = Make(spec);
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  Auditor auditor;
  Decision decision;
  int decisions = 0;
  while (simulator.AdvanceToDecision()) {
    REQUIRE(Observe(auditor, simulator) == "");
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    const ApplyResult applied = simulator.Apply(decision);
    INFO(Explain(applied, decision, simulator));
    REQUIRE(applied.ok());
    REQUIRE(Observe(auditor, simulator) == "");
    REQUIRE(++decisions < 100000);
  }
  return simulator;
}

Log Decisions(const std::string& spec, const Scenario& scenario) {
  Log log;
  for (const Event& event : RunOf(spec, scenario).events) {
    if (event.kind == EventKind::kComplete || event.kind == EventKind::kArrive) continue;
    const bool placed = event.kind == EventKind::kStart || event.kind == EventKind::kMove;
    log.push_back(Join(event.time, " ", ToString(event.kind), " ", event.job,
                       placed ? Join("@", static_cast<int>(event.type)) : ""));
  }
  return log;
}

std::vector<int> FirstWidths(const std::string& spec, const Scenario& scenario) {
  Simulator sim(scenario);
  const auto scheduler = Make(spec);
  scheduler->Reset(sim.View(scheduler->knowledge()));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  scheduler->Decide(sim.View(scheduler->knowledge()), decision);
  REQUIRE(sim.Apply(decision).ok());
  std::vector<int> widths;
  for (int job = 0; job < scenario.num_jobs(); ++job) widths.push_back(sim.state().Width(job));
  return widths;
}

std::vector<double> Ends(const std::string& spec, const Scenario& scenario) {
  std::vector<double> ends(static_cast<std::size_t>(scenario.num_jobs()), kNever);
  for (const Event& event : RunOf(spec, scenario).events) {
    if (event.kind == EventKind::kComplete) ends[static_cast<std::size_t>(event.job)] = event.time;
  }
  return ends;
}

Replicated Replicate(int n, const std::function<double(std::uint64_t)>& one) {
  BERTH_CHECK(n == 20 || n == 30, n, " replications");
  std::vector<double> values;
  Replicated result;
  for (int seed = 1; seed <= n; ++seed) {
    values.push_back(one(static_cast<std::uint64_t>(seed)));
    result.mean += values.back() / n;
  }
  double squares = 0.0;
  for (double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half = (n == 20 ? 2.861 : 2.756) * std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace berth::test
