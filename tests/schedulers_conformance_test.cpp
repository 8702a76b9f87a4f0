// Every registered scheduler, walked from its table: a new row is tested because it exists.
#include <algorithm>
#include <map>
#include <memory>

#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/gym/observation.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "policies/schedulers.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::AllClocks;
using test::RandomScenario;

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers(), PolicySchedulers()};
  return MakeScheduler(spec, tables);
}

// Frozen policies with random weights, which decide badly but must decide legally: a preemptive one and one
// of semantics commit.
std::vector<std::string> PolicySpecs() {
  static const test::TemporaryFolder folder;
  static const std::vector<std::string> specs = [] {
    std::vector<std::string> made;
    for (const int num_actions : {6 * 2 + 1, 6 * 2}) {
      const std::string path = folder / Join("policy", num_actions, ".h5");
      SaveBundle(test::RandomBundle("pair_scorer(width=8)", ObservationV1::Layout(6, 2), num_actions, 3),
                 path);
      made.push_back("policy(file=" + path + ")");
    }
    return made;
  }();
  return specs;
}

// Every row by its name, and the rows whose parameters change what they are.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  for (const char* objective : {"makespan", "finish_time_fairness"}) {
    specs.push_back(std::string("gavel(objective=") + objective + ")");
  }
  for (const char* spec :
       {"gavel(aware=false)", "gavel(solver=reference)", "gavel(objective=fifo,aware=false)",
        "gavel(objective=water_filling,solver=reference)",
        "gavel(objective=max_sum_throughput,solver=reference)",
        "gavel(objective=max_throughput_per_cost,slo=keep,solver=reference)"}) {
    specs.emplace_back(spec);
  }
  // The other packed ones run in packing_schedulers_test.cpp: seconds count.
  for (const char* objective : {"max_min", "finish_time_fairness", "max_throughput_per_cost", "fifo"}) {
    specs.push_back(std::string("gavel(packed=true,objective=") + objective + ")");
  }
  for (const char* spec :
       {"sjf(semantics=commit)", "fcfs(semantics=commit,backfill=easy)",
        "wfp3(semantics=commit,backfill=easy)", "unicep(backfill=easy)", "saf(backfill=conservative)",
        "smallest(overtake=true)", "queue(order=sjf,preemption=order)",
        "queue(order=expression,score=request-wait,backfill=easy,placement=best_fit)"}) {
    specs.emplace_back(spec);
  }
  specs.emplace_back("gavel(aware=false)");
  specs.emplace_back("priority(preemptive=true)");
  for (const std::string& spec : PolicySpecs()) specs.push_back(spec);
  return specs;
}

struct Trace {
  std::uint64_t signature = 0;
  std::vector<Event> events;
  std::vector<Decision> decisions;
};

// One run with every rule checked after every decision. Nobody is rejected unless the scheduler `rejects`.
Trace RunChecked(const Scenario& scenario, Scheduler& scheduler, bool rejects = false) {
  Simulator simulator(scenario, {.keep_events = true});
  scheduler.Reset(simulator.View(scheduler.knowledge()));
  Trace trace;
  Auditor auditor;
  while (simulator.AdvanceToDecision()) {
    REQUIRE(test::Observe(auditor, simulator) == "");
    Decision decision;
    scheduler.Decide(simulator.View(scheduler.knowledge()), decision);
    const ApplyResult applied = simulator.Apply(decision);
    INFO(Explain(applied, decision, simulator));
    REQUIRE(applied.ok());
    REQUIRE(test::Observe(auditor, simulator) == "");
    trace.decisions.push_back(std::move(decision));
    REQUIRE(trace.decisions.size() < 200000);
  }
  REQUIRE(test::Observe(auditor, simulator) == "");  // what completed last
  REQUIRE_FALSE(simulator.stalled());
  const SimState& state = simulator.state();
  for (std::size_t job = 0; job < state.phase.size(); ++job) {
    const bool rejected = state.phase[job] == JobPhase::kRejected && state.last_type[job] == -1;
    REQUIRE((state.completion[job] < kNever || (rejects && rejected)));
  }
  trace.signature = simulator.signature();
  trace.events = simulator.events();
  return trace;
}

bool SameEvents(const std::vector<Event>& a, const std::vector<Event>& b, double until) {
  std::size_t i = 0;
  for (; i < a.size() && i < b.size() && a[i].time < until && b[i].time < until; ++i) {
    if (a[i].time != b[i].time || a[i].kind != b[i].kind || a[i].job != b[i].job || a[i].type != b[i].type)
      return false;
  }
  return (i >= a.size() || a[i].time >= until) && (i >= b.size() || b[i].time >= until);
}

}  // namespace

TEST_CASE("schedulers: legal decisions and every job done, under every clock") {
  for (const std::string& spec : Specs()) {
    for (const Clock& clock : AllClocks()) {
      DYNAMIC_SECTION(spec << " " << clock.ToString()) {
        for (std::uint64_t seed : {1, 2, 3}) {
          CAPTURE(seed);
          const auto scheduler = Make(spec);
          RunChecked(RandomScenario(seed, 40, clock), *scheduler);
        }
        for (const auto& [name, scenario] : test::ExtremeScenarios(clock)) {
          CAPTURE(name);
          const auto scheduler = Make(spec);
          RunChecked(scenario, *scheduler);
        }
        const auto scheduler = Make(spec);  // tenants, weights, deadlines: some can be met
        RunChecked(bench::TenantScenario(12, 40, clock), *scheduler, spec == "deadline_admission");
      }
    }
  }
}

TEST_CASE("schedulers: those that reject run the others to their end, under every clock") {
  for (const char* spec :
       {"admission(limit=4)", "admission(by=wait,limit=60,inner=srpt)", "fcfs(queue_limit=3)",
        "token_bucket(rate_per_h=90,burst=2,action=reject)", "deadline_admission"}) {
    for (const Clock& clock : AllClocks()) {
      CAPTURE(spec, clock.ToString());
      ScenarioData data = RandomScenario(11, 40, clock).data();
      for (double arrival : data.jobs.arrival) data.jobs.deadline.push_back(arrival + 300.0);
      const Trace trace = RunChecked(Scenario(std::move(data)), *Make(spec), /*rejects=*/true);
      CHECK(std::any_of(trace.events.begin(), trace.events.end(),
                        [](const Event& event) { return event.kind == EventKind::kReject; }));
    }
  }
}

TEST_CASE("schedulers: the same run twice, reused, and interleaved with another is the same run") {
  for (const std::string& spec : Specs()) {
    DYNAMIC_SECTION(spec) {
      const Clock clock{ClockKind::kRounds, 60.0};
      const Scenario a = RandomScenario(4, 40, clock), b = RandomScenario(5, 40, clock);
      const auto first = Make(spec);
      const std::uint64_t alone_a = RunChecked(a, *first).signature;
      const std::uint64_t alone_b = RunChecked(b, *Make(spec)).signature;
      CHECK(RunChecked(a, *first).signature == alone_a);  // Reset forgets
      CHECK(RunChecked(a, *Make(spec)).signature == alone_a);

      Simulator sa(a), sb(b);
      const auto one = Make(spec), two = Make(spec);
      one->Reset(sa.View(one->knowledge()));
      two->Reset(sb.View(two->knowledge()));
      for (bool go_a = true, go_b = true; go_a || go_b;) {
        Decision decision;
        if (go_a && (go_a = sa.AdvanceToDecision())) {
          one->Decide(sa.View(one->knowledge()), decision);
          REQUIRE(sa.Apply(decision).ok());
        }
        decision.Clear();
        if (go_b && (go_b = sb.AdvanceToDecision())) {
          two->Decide(sb.View(two->knowledge()), decision);
          REQUIRE(sb.Apply(decision).ok());
        }
      }
      CHECK(sa.signature() == alone_a);
      CHECK(sb.signature() == alone_b);
    }
  }
}

TEST_CASE("schedulers: recorded decisions replayed into a copied simulator give the same log") {
  for (const std::string& spec : Specs()) {
    DYNAMIC_SECTION(spec) {
      const Scenario scenario = RandomScenario(6, 40, {ClockKind::kEvent});
      const Trace trace = RunChecked(scenario, *Make(spec));
      Simulator simulator(scenario);
      for (const Decision& decision : trace.decisions) {
        REQUIRE(simulator.AdvanceToDecision());
        Simulator copy = simulator;
        REQUIRE(copy.Apply(decision).ok());
        simulator = std::move(copy);
      }
      CHECK_FALSE(simulator.AdvanceToDecision());
      CHECK(simulator.signature() == trace.signature);
    }
  }
}

TEST_CASE("schedulers: the declared knowledge is all that is used") {
  // The run differs from its twin in sizes that a blind scheduler cannot see before they tell: until the
  // first completion that moves, both logs are equal.
  for (const std::string& spec : Specs()) {
    DYNAMIC_SECTION(spec) {
      const auto scheduler = Make(spec);
      const Scenario scenario = RandomScenario(7, 40, {ClockKind::kRounds, 60.0});
      if (scheduler->knowledge() >= Knowledge::kEstimate) {
        // It says that it needs the future: a scenario that does not grant it is refused.
        const Scenario blind = WithKnowledge(scenario, Knowledge::kBlind, 0.0);
        CHECK_THROWS_AS(Run(blind, *scheduler, spec, {}), Error);
        continue;
      }
      const Trace before = RunChecked(scenario, *scheduler);
      ScenarioData data = scenario.data();
      for (double& steps : data.jobs.total_steps) steps *= 1.5;
      const Scenario longer{std::move(data)};
      const Trace after = RunChecked(longer, *Make(spec));
      double first = kNever;
      for (const Trace* trace : {&before, &after}) {
        for (const Event& event : trace->events) {
          if (event.kind == EventKind::kComplete) first = std::min(first, event.time);
        }
      }
      CHECK(SameEvents(before.events, after.events, first));
    }
  }
}

TEST_CASE("schedulers: rows say what is true of them") {
  std::map<std::string, int> names;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    DYNAMIC_SECTION(info.name) {
      CHECK(++names[info.name] == 1);
      CHECK(std::string(info.summary).size() > 5);
      // What a decision costs closes the summary: an order of growth, or that of what is inside.
      CHECK_THAT(info.summary, Catch::Matches(".*; [^;]*(O\\(|cost|LP|exponential)[^;]*"));
      CHECK(std::string(info.source).size() > 5);
      CHECK(Make(info.name)->knowledge() == info.knowledge);
      for (const ParamInfo& param : info.params) CHECK(std::string(param.help).size() > 3);
      if (info.preemptive) continue;
      for (std::uint64_t seed : {8, 9}) {
        const Trace trace = RunChecked(RandomScenario(seed, 40, {ClockKind::kEvent}), *Make(info.name));
        for (const Event& event : trace.events) {
          CHECK(event.kind != EventKind::kStop);
          CHECK(event.kind != EventKind::kMove);
        }
      }
    }
  }
}

TEST_CASE("schedulers: estimates, and costs of stopping, are survived by all") {
  ScenarioData data = RandomScenario(10, 40, {ClockKind::kRounds, 60.0}).data();
  data.knowledge = Knowledge::kEstimate;
  data.estimate_sigma = 0.8;
  data.costs = {7.0, 5.0, 3.0};
  const Scenario scenario{std::move(data)};
  for (const std::string& spec : Specs()) {
    DYNAMIC_SECTION(spec) {
      const auto scheduler = Make(spec);
      if (scheduler->knowledge() == Knowledge::kOracle) {
        CHECK_THROWS_AS(Run(scenario, *scheduler, spec, {}), Error);
      } else {
        RunChecked(scenario, *scheduler);
      }
    }
  }
}

TEST_CASE("an unknown scheduler or parameter names the nearest right one") {
  CHECK_THROWS_WITH(Make("gavle"), Catch::Contains("did you mean 'gavel'"));
  CHECK_THROWS_WITH(Make("gavel(objectiv=max_min)"), Catch::Contains("did you mean 'objective'"));
  CHECK_THROWS_WITH(Make("gavel(objective=maxmin)"), Catch::Contains("did you mean 'max_min'"));
  CHECK_THROWS_AS(Make("fcfs(x=1)"), Error);
}

}  // namespace berth
