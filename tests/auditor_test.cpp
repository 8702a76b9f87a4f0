// The auditor (env/sim/auditor.hpp) agrees with every scheduler's runs, and finds what it is for: bugs put
// into what it is shown, and whole simulators that work by another law than the scenario's.
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "tests/audit.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/toy_scenarios.hpp"
#include "tests/with_features.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using test::Frame;

// Gangs, weights and three types from RandomScenario; stopping costs, so that resuming is seen.
Scenario Costly(std::uint64_t seed, Clock clock) {
  return WithCosts(test::RandomScenario(seed, 40, clock), {7.0, 5.0, 3.0});
}

// Every frame of a run: after each advance and each decision.
std::vector<Frame> Film(const Scenario& scenario, const std::string& spec) {
  const auto scheduler = test::Make(spec);
  Simulator simulator(scenario);
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  std::vector<Frame> film;
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    film.emplace_back(simulator);
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    REQUIRE(simulator.Apply(decision).ok());
    film.emplace_back(simulator);
  }
  REQUIRE(simulator.finished());
  film.emplace_back(simulator);
  return film;
}

// What the auditor says of a film, spoilt on the way, against the law of `scenario`: "rule" or "".
// `every`: observations between two looks at everyone.
std::string Verdict(const std::vector<Frame>& film, const Scenario& scenario,
                    const std::function<void(Frame&)>& spoil = {}, int every = 1) {
  Auditor auditor(every);
  for (std::size_t i = 0; i < film.size(); ++i) {
    Frame frame = film[i];
    if (spoil) spoil(frame);
    AuditInput input = frame.Audit(scenario);
    input.last = i + 1 == film.size();
    const std::string violation = auditor.Observe(input);
    if (!violation.empty()) return violation.substr(0, violation.find(':'));
  }
  return "";
}

}  // namespace

TEST_CASE("auditor: agrees with every scheduler under every clock", "[checker]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  std::vector<std::string> specs = {"priority(preemptive=true)", "fcfs(queue_limit=2)"};
  for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  int stops = 0;
  for (const std::string& spec : specs) {
    for (const Clock& clock : test::AllClocks()) {
      for (std::uint64_t seed : {31, 32}) {
        CAPTURE(spec, clock.ToString(), seed);
        const Scenario scenario = Costly(seed, clock);
        const std::vector<Frame> film = Film(scenario, spec);
        CHECK(Verdict(film, scenario) == "");
        CHECK(Verdict(film, scenario, {}, 64) == "");
        for (int times : film.back().state.preemptions) stops += times;
      }
    }
  }
  CHECK(stops > 100);  // resuming was seen
}

TEST_CASE("auditor: a bug that each rule is for is reported by that rule", "[checker]") {
  const Scenario scenario = Costly(33, {ClockKind::kEvent});
  const std::vector<Frame> film = Film(scenario, "srpt");
  REQUIRE(Verdict(film, scenario) == "");
  // A moment at which jobs 0 and 1 are done and others were stopped before and run again.
  const double half = film[film.size() / 2].state.now;
  const auto later = [half](auto&& spoil) {
    return [half, spoil](Frame& frame) {
      if (frame.state.now >= half) spoil(frame);
    };
  };
  const auto first = [](const SimState& s, JobPhase phase, int stopped) {
    for (std::size_t j = 0; j < s.phase.size(); ++j) {
      if (s.phase[j] == phase && s.preemptions[j] >= stopped) return j;
    }
    return s.phase.size();
  };
  struct Bug {
    const char* rule;
    const char* what;
    std::function<void(Frame&)> spoil;
  };
  const std::vector<Bug> bugs = {
      {"time", "the clock goes back", later([](Frame& f) { f.state.now = 1.0; })},
      {"time", "a completion before the moment at which the job still ran",
       [&](Frame& f) {
         for (std::size_t j = 0; j < f.state.phase.size(); ++j) {
           if (f.state.phase[j] == JobPhase::kDone) f.state.completion[j] = 0.0;
         }
       }},
      {"phases", "a job that was done waits again", later([&](Frame& f) {
         const std::size_t j = first(f.state, JobPhase::kDone, 0);
         f.state.phase[j] = JobPhase::kWaiting, f.state.completion[j] = kNever;
       })},
      {"phases", "a completion is moved afterwards",
       later([&](Frame& f) { f.state.completion[first(f.state, JobPhase::kDone, 0)] += 1.0; })},
      {"work", "a stopped job keeps one percent more than it did",
       [](Frame& f) {
         for (std::size_t j = 0; j < f.state.phase.size(); ++j) {
           if (f.state.phase[j] == JobPhase::kWaiting) f.state.steps_done[j] *= 1.01;
         }
       }},
      {"work", "a stop loses the run's progress",
       [](Frame& f) {
         for (std::size_t j = 0; j < f.state.phase.size(); ++j) {
           if (f.state.phase[j] == JobPhase::kWaiting) f.state.steps_done[j] = 0.0;
         }
       }},
      {"work", "resuming costs nothing",
       [](Frame& f) {
         for (std::size_t j = 0; j < f.state.phase.size(); ++j) {
           if (f.state.phase[j] == JobPhase::kRunning) f.state.progress_from[j] = f.state.run_start[j];
         }
       }},
      {"held seconds", "a run's GPU time goes to another job", later([&](Frame& f) {
         f.state.run_seconds[first(f.state, JobPhase::kDone, 0)] += 5.0;
         f.state.run_seconds[first(f.state, JobPhase::kRunning, 1)] -= 5.0;
       })},
      {"GPU-seconds", "a run is charged to another type",
       later([](Frame& f) { f.busy_seconds[0] += 5.0, f.busy_seconds[1] -= 5.0; })},
      {"job-seconds", "a job that left is still counted", later([](Frame& f) { f.job_seconds += 5.0; })},
  };
  std::set<std::string> met;
  for (const Bug& bug : bugs) {
    CAPTURE(bug.what);
    CHECK(Verdict(film, scenario, bug.spoil) == bug.rule);
    for (const int every : {5, 64, 100'000})  // later, but found
      CHECK(Verdict(film, scenario, bug.spoil, every) != "");
    met.insert(bug.rule);
  }
  const Scenario rounds = Costly(33, {ClockKind::kRounds, 60.0});
  CHECK(Verdict(Film(rounds, "srpt"), rounds, later([](Frame& f) { f.state.now += 0.5; })) == "clock");
  met.insert("clock");
  CHECK(met == std::set<std::string>(Auditor::Rules().begin(), Auditor::Rules().end()));
}

TEST_CASE("auditor: a simulator that works by another law is found out", "[checker]") {
  // The run follows one scenario, the books another: as if the simulator had that law wrong.
  const Scenario scenario = Costly(34, {ClockKind::kEvent});
  const std::vector<Frame> film = Film(scenario, "srpt");
  const auto verdict = [&](const std::function<void(ScenarioData&)>& change) {
    ScenarioData data = scenario.data();
    change(data);
    return Verdict(film, Scenario(std::move(data)));
  };
  CHECK(verdict([](ScenarioData&) {}) == "");
  CHECK(verdict([](ScenarioData& d) {
          for (double& rate : d.throughputs.alone) rate *= 1.000001;
        }) == "work");
  CHECK(verdict([](ScenarioData& d) { d.costs.checkpoint_s += 0.001; }) == "work");
  CHECK(verdict([](ScenarioData& d) { d.costs.restore_s += 0.001; }) == "work");
  CHECK(verdict([](ScenarioData& d) { d.costs.migration_s += 0.001; }) == "work");
  CHECK(verdict([](ScenarioData& d) {
          for (double& steps : d.jobs.total_steps) steps *= 1.000001;
        }) == "");  // how much is to be done is no law of motion: the invariant `steps` holds it
  CHECK(verdict([](ScenarioData& d) {
          for (int& gang : d.jobs.gang) gang = 1;
        }) == "GPU-seconds");
  CHECK(verdict([](ScenarioData& d) {
          for (std::size_t j = 1; j < d.jobs.arrival.size(); ++j) d.jobs.arrival[j] += 0.001;
        }) == "job-seconds");
  // Rounds of another length, and steps that are not whole.
  for (const ClockKind kind : {ClockKind::kRounds, ClockKind::kReferenceRounds}) {
    const Scenario rounds = Costly(34, {kind, 60.0});
    const std::vector<Frame> shown = Film(rounds, "srpt");
    CHECK(Verdict(shown, rounds) == "");
    CHECK(Verdict(shown, WithClock(rounds, {kind, 50.0})) == "clock");
  }
  const Scenario whole = Costly(34, {ClockKind::kReferenceRounds, 60.0});
  ScenarioData faster = whole.data();
  for (double& rate : faster.throughputs.alone) rate *= 1.001;
  CHECK(Verdict(Film(whole, "srpt"), Scenario(std::move(faster))) == "clock");
}

TEST_CASE("auditor: a simulator carries one where the environment asks for it", "[checker]") {
  const Scenario scenario = Costly(35, {ClockKind::kEvent});
  // Runs fcfs and, at the tenth decision, gives the first job that runs five seconds more than it ran.
  const auto run = [&](bool spoilt) {
    const auto scheduler = test::Make("fcfs");
    Simulator simulator(scenario);
    scheduler->Reset(simulator.View(scheduler->knowledge()));
    Decision decision;
    for (int i = 0; simulator.AdvanceToDecision(); ++i) {
      if (spoilt && i == 10) {
        auto& state = const_cast<SimState&>(simulator.state());
        REQUIRE(state.running.begin() != state.running.end());
        state.run_seconds[static_cast<std::size_t>(*state.running.begin())] += 5.0;
      }
      decision.Clear();
      scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
      REQUIRE(simulator.Apply(decision).ok());
    }
    return simulator.signature();
  };
#ifndef BERTH_DEBUG_CHECKS  // there each does
  CHECK_NOTHROW(run(true));
#endif
  const std::uint64_t plain = run(false);
  const Audited audited;
  CHECK(run(false) == plain);
  CHECK_THROWS_AS(run(true), AuditFailure);
}

TEST_CASE("auditor: one of a pair ends within a round, and later another job", "[checker]") {
  // Timers of `power` cut the round at each end, and the auditor looks there.
  const Audited audited;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Scenario scenario = test::With(Costly(seed, {ClockKind::kRounds, 60.0}).data(), "power");
    CHECK_NOTHROW(test::RunOf("gandiva", scenario));
  }
}

TEST_CASE("auditor: --audit of a verb reaches its runs, and what it writes says so", "[checker]") {
  const test::TemporaryFolder folder;
  const std::string jobs = "--workload 'synthetic(rate=1,jobs=40)' --cluster v100=4,k80=4";
  const auto written = [&](const std::string& how) {
    const test::Outcome outcome = test::Berth(folder, "simulate " + jobs + " --json out.json" + how);
    INFO(outcome.error);
    REQUIRE(outcome.code == 0);
    Json json = Json::parse(test::Slurp(folder / "out.json"));
    CHECK((outcome.out.find("every simulated run is checked") != std::string::npos) == (how == " --audit"));
    return std::make_pair(json["signature"], json["config"].value("audit", "none"));
  };
  const auto [plain, off] = written("");
  CHECK(off == "none");
  CHECK(written(" --audit") == std::make_pair(plain, std::string("true")));
  CHECK(written(" --audit=false") == std::make_pair(plain, std::string("false")));
}

}  // namespace berth
