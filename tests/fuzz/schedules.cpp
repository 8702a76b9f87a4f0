// Every scheduler in small clusters with features and outages: what it decides is legal, and no input ends it. Refusing a scenario is an
// Error when it is made or reset, not later.
#include <memory>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/fuzz/drawn_cluster.hpp"
#include "tests/fuzz/targets.hpp"

namespace berth::fuzz {
namespace {

// Every row by its name, and forms of those that have several.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  for (const char* form : {"objective=makespan", "objective=finish_time_fairness", "objective=fifo", "objective=water_filling",
                           "objective=max_sum_throughput", "objective=max_throughput_per_cost", "objective=allox",
                           "objective=min_total_duration", "solver=simplex", "solver=ipm", "solver=warm", "solver=reference", "aware=false",
                           "packed=true", "packed=true,objective=fifo", "idle=given"})
    specs.push_back(Join("gavel(", form, ")"));
  for (const char* spec : {"queue(order=sjf,preemption=order)", "queue(order=expression,score=request-wait,backfill=easy,placement=best_fit)",
                           "sjf(semantics=commit)", "wfp3(semantics=commit,backfill=easy)", "saf(backfill=conservative)",
                           "priority(preemptive=true)", "hierarchical(outer=fair_share,inner=optimus)", "tuned(inner=fcfs)"})
    specs.emplace_back(spec);
  return specs;
}

void Play(Scheduler& scheduler, Simulator& simulator) {
  constexpr int kMostDecisions = 60;
  Decision decision;
  for (int step = 0; step < kMostDecisions && simulator.AdvanceToDecision(); ++step) {
    decision.Clear();
    scheduler.Decide(simulator.View(scheduler.knowledge()), decision);
    const ApplyResult applied = simulator.Apply(decision);
    if (!applied.ok()) Fail(Explain(applied, decision, simulator));
  }
}

}  // namespace

bool Run_schedules(Bytes bytes) {
  static const std::vector<std::string> specs = Specs();
  const SchedulerTable tables[] = {BaselineSchedulers()};
  Input in(bytes);
  const std::string& spec = specs[in.Byte() % specs.size()];
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Simulator> simulator;
  const bool made = Accepted([&] {
    scheduler = MakeScheduler(spec, tables);
    const Scenario scenario = WithOutages(DrawnCluster(in), in);
    CheckRunnable(scenario, *scheduler, spec);
    simulator = std::make_unique<Simulator>(scenario);
    scheduler->Reset(simulator->View(scheduler->knowledge()));
  });
  if (!made) return true;
  try {
    Play(*scheduler, *simulator);
  } catch (const std::exception& error) {
    const ScenarioData& data = simulator->scenario().data();
    Fail(Join(spec, " at ", simulator->now(), " s: ", error.what(), " (clock ", data.clock.ToString(), ", features '", ToString(data.features),
              "', ", data.provenance, ")"));
  }
  return true;
}

}  // namespace berth::fuzz
