#include "tools/scheduler_checks.hpp"

#include <algorithm>
#include <exception>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/sim/auditor.hpp"
#include "env/sim/simulator.hpp"
#include "tools/bench/golden_suite.hpp"

namespace berth {
namespace {

using bench::RandomScenario;

constexpr int kCheckedJobs = 40;
constexpr std::size_t kMostDecisions = 200'000;

void Audit(Auditor& auditor, const Simulator& simulator) {
  std::string broken = CheckInvariants(simulator);
  if (broken.empty()) {
    std::vector<double> busy;
    for (int type = 0; type < simulator.scenario().num_types(); ++type)
      busy.push_back(simulator.BusySeconds(type));
    broken = auditor.Observe({simulator.scenario(), simulator.state(), busy, simulator.JobSeconds()});
  }
  if (!broken.empty()) throw Error(Join("at ", simulator.now(), " s: ", broken));
}

// What `run` throws says first where that was, and is nested in what is thrown.
template <class F>
auto At(const std::string& where, const F& run) {
  try {
    return run();
  } catch (const Error& error) {
    std::throw_with_nested(Error(Join(where, ": ", error.what())));
  }
}

CheckedRun RunNew(const CheckedScheduler& scheduler, const Scenario& scenario) {
  return RunChecked(scenario, *scheduler.make(), scheduler.rejects);
}

void Expect(bool same, const std::string& where, const char* what) {
  if (!same) throw Error(Join(where, ": ", what));
}

void CheckLegality(const CheckedScheduler& scheduler) {
  for (const Clock& clock : AllClocks()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      At(Join("clock ", clock.ToString(), ", seed ", seed),
         [&] { return RunNew(scheduler, RandomScenario(seed, kCheckedJobs, clock)); });
    }
    for (const auto& [name, scenario] : ExtremeScenarios(clock)) {
      At(Join("clock ", clock.ToString(), ", ", name),
         [&, &its = scenario] { return RunNew(scheduler, its); });
    }
    At(Join("clock ", clock.ToString(), ", tenants and deadlines"),  // some of which can be met
       [&] { return RunNew(scheduler, bench::TenantScenario(12, kCheckedJobs, clock)); });
  }
}

void CheckRepeats(const CheckedScheduler& scheduler) {
  const Clock clock{ClockKind::kRounds, 60.0};
  const Scenario a = RandomScenario(4, kCheckedJobs, clock), b = RandomScenario(5, kCheckedJobs, clock);
  const auto first = scheduler.make();
  const std::uint64_t alone_a = RunChecked(a, *first, scheduler.rejects).signature;
  const std::uint64_t alone_b = RunNew(scheduler, b).signature;
  Expect(RunChecked(a, *first, scheduler.rejects).signature == alone_a, "the same object again",
         "expected the same run, found another: Reset does not forget all");
  Expect(RunNew(scheduler, a).signature == alone_a, "a new object", "expected the same run, found another");

  Simulator sa(a), sb(b);
  const auto one = scheduler.make(), two = scheduler.make();
  one->Reset(sa.View(one->knowledge()));
  two->Reset(sb.View(two->knowledge()));
  Decision decision;
  const auto step = [&decision](Simulator& simulator, Scheduler& its) {
    if (!simulator.AdvanceToDecision()) return false;
    decision.Clear();
    its.Decide(simulator.View(its.knowledge()), decision);
    return simulator.Apply(decision).ok();
  };
  for (bool go_a = true, go_b = true; go_a || go_b;) {
    if (go_a) go_a = step(sa, *one);
    if (go_b) go_b = step(sb, *two);
  }
  Expect(sa.signature() == alone_a && sb.signature() == alone_b, "two runs by turns",
         "expected the same runs as one after the other, found others: two objects share what changes");
}

void CheckReplay(const CheckedScheduler& scheduler) {
  const Scenario scenario = RandomScenario(6, kCheckedJobs, {ClockKind::kEvent});
  const CheckedRun run = RunNew(scheduler, scenario);
  Simulator simulator(scenario);
  bool fits = true;
  for (const Decision& decision : run.decisions) {
    fits = fits && simulator.AdvanceToDecision();
    Simulator copy = simulator;
    fits = fits && copy.Apply(decision).ok();
    simulator = std::move(copy);
  }
  Expect(fits && !simulator.AdvanceToDecision() && simulator.signature() == run.signature, "clock event",
         "expected recorded decisions to give the same log in a copied simulator, found another");
}

bool SameEvents(const std::vector<Event>& a, const std::vector<Event>& b, double until) {
  std::size_t i = 0;
  for (; i < a.size() && i < b.size() && a[i].time < until && b[i].time < until; ++i) {
    if (a[i].time != b[i].time || a[i].kind != b[i].kind || a[i].job != b[i].job || a[i].type != b[i].type)
      return false;
  }
  return (i >= a.size() || a[i].time >= until) && (i >= b.size() || b[i].time >= until);
}

// The run differs from its twin in sizes that a blind scheduler cannot see before they tell: until the first
// completion that moves, both logs are equal. One that says that it needs the future is refused without it.
void CheckKnowledge(const CheckedScheduler& scheduler) {
  const Scenario scenario = RandomScenario(7, kCheckedJobs, {ClockKind::kRounds, 60.0});
  const auto made = scheduler.make();
  if (made->knowledge() >= Knowledge::kEstimate) {
    bool refused = false;
    try {
      (void)Run(WithKnowledge(scenario, Knowledge::kBlind, 0.0), *made, "checked", {});
    } catch (const Error&) {
      refused = true;
    }
    Expect(refused, "a blind scenario", "expected the scheduler to be refused, found a run");
    return;
  }
  const CheckedRun before = RunNew(scheduler, scenario);
  ScenarioData data = scenario.data();
  for (double& steps : data.jobs.total_steps) steps *= 1.5;
  const CheckedRun after = RunNew(scheduler, Scenario(std::move(data)));
  double first = kNever;
  for (const CheckedRun* run : {&before, &after}) {
    for (const Event& event : run->events) {
      if (event.kind == EventKind::kComplete) first = std::min(first, event.time);
    }
  }
  Expect(SameEvents(before.events, after.events, first), "jobs half as long again",
         "expected the same decisions until the first job ends, found others: it knows sizes that it says it "
         "does not");
}

void CheckEstimates(const CheckedScheduler& scheduler) {
  ScenarioData data = RandomScenario(10, kCheckedJobs, {ClockKind::kRounds, 60.0}).data();
  data.knowledge = Knowledge::kEstimate;
  data.estimate_sigma = 0.8;
  data.costs = {7.0, 5.0, 3.0};
  const Scenario scenario{std::move(data)};
  const auto made = scheduler.make();
  if (made->knowledge() == Knowledge::kOracle) return;
  At("estimates wrong by a factor of two", [&] { return RunChecked(scenario, *made, scheduler.rejects); });
}

constexpr SchedulerCheck kChecks[] = {
    {"legality", "its decisions are legal and every job is done, under every clock", CheckLegality},
    {"repeats", "the same run twice, reused, and by turns with another is the same run", CheckRepeats},
    {"replay", "its recorded decisions give the same log in a copied simulator", CheckReplay},
    {"knowledge", "the knowledge that it declares is all that it uses", CheckKnowledge},
    {"estimates", "it survives wrong estimates and costs of stopping", CheckEstimates},
};

}  // namespace

CheckedRun RunChecked(const Scenario& scenario, Scheduler& scheduler, bool rejects) {
  Simulator simulator(scenario, {.keep_events = true});
  scheduler.Reset(simulator.View(scheduler.knowledge()));
  CheckedRun run;
  Auditor auditor;
  while (simulator.AdvanceToDecision()) {
    Audit(auditor, simulator);
    Decision decision;
    scheduler.Decide(simulator.View(scheduler.knowledge()), decision);
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok())
      throw Error(
          Join("decides illegally at ", simulator.now(), " s: ", Explain(applied, decision, simulator)));
    Audit(auditor, simulator);
    run.decisions.push_back(std::move(decision));
    if (run.decisions.size() >= kMostDecisions)
      throw Error(Join("expected fewer than ", kMostDecisions, " decisions, found no end of them"));
  }
  Audit(auditor, simulator);  // what completed last
  const SimState& state = simulator.state();
  if (simulator.stalled())
    throw Error(Join("stalls at ", simulator.now(),
                     " s: ", Counted(state.waiting.size(), "job waits", "jobs wait"),
                     ", nothing runs and nothing will arrive"));
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const bool rejected = state.phase[U(job)] == JobPhase::kRejected && state.last_type[U(job)] == -1;
    if (state.completion[U(job)] < kNever || (rejects && rejected)) continue;
    throw Error(Join("expected job ", job, " done, found it ", rejected ? "rejected" : "left"));
  }
  run.signature = simulator.signature();
  run.events = simulator.events();
  return run;
}

std::vector<Clock> AllClocks() {
  return {{ClockKind::kEvent},
          {ClockKind::kRounds, 60.0},
          {ClockKind::kReferenceRounds, 60.0},
          {ClockKind::kHpc}};
}

std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(const Clock& clock) {
  struct Job {
    double arrival, steps;
    int job_type = 0, gang = 1;
  };
  const std::vector<Job> at_once = {{0, 100, 0, 4}, {0, 40, 1, 1}, {0, 40, 1, 1},
                                    {0, 300, 2, 2}, {0, 10, 0, 1}, {0, 80, 0, 4}};
  // On the random scenarios' cluster, or `gpus` of its first type alone.
  const auto make = [&clock](const std::vector<Job>& jobs, int gpus = 0) {
    ScenarioData data = RandomScenario(0, 0, clock).data();
    for (const Job& job : jobs) {
      data.jobs.id.push_back(static_cast<std::int64_t>(data.jobs.id.size()));
      data.jobs.arrival.push_back(job.arrival), data.jobs.total_steps.push_back(job.steps);
      data.jobs.job_type.push_back(job.job_type), data.jobs.gang.push_back(job.gang);
    }
    data.throughputs.pairs.clear();
    if (gpus > 0) {
      const std::vector<double> all = data.throughputs.alone;
      const std::size_t types = data.cluster.types.size();
      data.cluster.types.resize(1), data.cluster.types[0].count = gpus;
      data.throughputs.alone.clear();
      for (std::size_t i = 0; i < all.size(); i += types)
        data.throughputs.alone.push_back(all[i] / 2.0);  // of three job types: 2, 1 and 1/2
    }
    return Scenario(std::move(data));
  };
  return {
      {"no job", make({})},
      {"one job", make({{3, 100, 2, 2}})},
      {"all at once", make(at_once)},
      {"one type", make(at_once, 4)},
      {"one GPU", make({{0, 50}, {0, 20}, {5, 20}, {400, 30}}, 1)},
  };
}

std::span<const SchedulerCheck> SchedulerChecks() {
  return kChecks;
}

}  // namespace berth
