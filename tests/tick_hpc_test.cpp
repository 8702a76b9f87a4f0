// Clock hpc against a second simulator that walks every second and takes one event at a time: arrivals first
// on ties, a decision after each (RLScheduler, SC 2020). Non-preemptive, as that simulator is.
#include <algorithm>
#include <vector>

#include "env/base/rng.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/rule_run.hpp"
#include "tests/tick_simulator.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::TickJob;
using test::TickRule;

// One type, gangs; ties of arrivals and completions are frequent.
Scenario WholeSeconds(std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest, Split::kEvaluate, 1);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int j = 0; j < 30; ++j) {
    now += 3.0 * stream.Below(4);
    jobs.push_back({now, 3.0 * (1 + stream.Below(12)), 0, 1 << stream.Below(3)});
  }
  return test::Tiny({{"a", 6}}, {{1.0}}, jobs, {ClockKind::kHpc});
}

TickJob Face(int job, int gang, int on) {
  TickJob face{};
  face.index = job, face.gang = gang, face.on = on, face.last = on, face.weight = 1.0, face.rates = {1.0};
  return face;
}

struct Model {
  std::vector<double> completion;
  int decisions = 0;
};

Model Walk(const Scenario& scenario, TickRule rule) {
  const JobTable& jobs = scenario.data().jobs;
  const std::size_t n = jobs.arrival.size();
  Model model{std::vector<double>(n, -1.0)};
  std::vector<int> on(n, -1);
  std::vector<bool> here(n, false);
  std::vector<double> left = jobs.total_steps;
  std::vector<std::size_t> started;  // in the order of their starts, in which those of one instant end
  const auto decide = [&] {
    ++model.decisions;
    std::vector<TickJob> present;
    for (std::size_t j = 0; j < n; ++j) {
      if (here[j]) present.push_back(Face(static_cast<int>(j), jobs.gang[j], on[j]));
    }
    for (const auto& [job, type] : test::Plan(rule, present, {6})) {
      if (on[static_cast<std::size_t>(job)] < 0) started.push_back(static_cast<std::size_t>(job));
      on[static_cast<std::size_t>(job)] = type;
    }
  };
  for (double now = 0.0; std::count(model.completion.begin(), model.completion.end(), -1.0) > 0; ++now) {
    for (std::size_t j = 0; j < n; ++j) {
      if (jobs.arrival[j] == now) here[j] = true, decide();
    }
    for (std::size_t k = 0; k < started.size();
         ++k) {  // who ends at this second keeps its GPUs until its turn
      const std::size_t j = started[k];
      if (here[j] && left[j] == 0.0) here[j] = false, model.completion[j] = now, decide();
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (here[j] && on[j] >= 0) left[j] -= 1.0;
    }
  }
  return model;
}

}  // namespace

TEST_CASE("model: under clock hpc the simulator and a brute-force one agree, one event at a time",
          "[checker]") {
  int differs = 0;
  for (TickRule rule : {TickRule::kStrict, TickRule::kOvertaking}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(static_cast<int>(rule), seed);
      const Scenario scenario = WholeSeconds(seed);
      const Model expected = Walk(scenario, rule);
      const test::RuleRun found = test::RunByRule(scenario, rule);
      REQUIRE(found.completion == expected.completion);
      // The last completion ends the run; every other event is a decision point.
      REQUIRE(static_cast<int>(found.decided_at.size()) == expected.decisions - 1);
      differs += test::TickSimulate(WithClock(scenario, {ClockKind::kEvent}), rule) != expected.completion;
    }
  }
  CHECK(differs > 0);  // one event at a time is not all at once
}

TEST_CASE("model: gangs, costs and preemption stay within the invariants and the auditor's books",
          "[checker]") {
  // The scenarios of the other model test check completions; here both checkers watch the hardest of them:
  // random stops, moves and starts with costs, under both clocks.
  for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 8.0}, Clock{ClockKind::kHpc},
                             Clock{ClockKind::kReferenceRounds, 8.0}}) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      CAPTURE(clock.ToString(), seed);
      Stream stream(seed, Purpose::kTest, Split::kEvaluate, 2);
      std::vector<test::TinyJob> jobs;
      for (int j = 0; j < 20; ++j) {
        jobs.push_back(
            {7.0 * j, 4.0 * (1 + stream.Below(20)), static_cast<int>(stream.Below(2)), 1 << stream.Below(2)});
      }
      ScenarioData data = test::TinyData({{"a", 3}, {"b", 4}}, {{1.0, 2.0}, {2.0, 0.5}}, jobs, clock);
      data.costs = {1.5, 0.5, 2.0};
      Simulator simulator{Scenario(std::move(data))};
      Auditor auditor;
      while (simulator.AdvanceToDecision()) {
        REQUIRE(test::Observe(auditor, simulator) == "");
        const ClusterView view = simulator.View(Knowledge::kNone);
        std::vector<int> room(view.free_gpus().begin(), view.free_gpus().end());
        Decision decision;
        for (int job : view.active()) {
          const auto type = static_cast<std::size_t>(stream.Below(2));
          const int gang = view.Gang(job);
          const bool fits = room[type] >= gang;
          if (view.IsWaiting(job)) {
            if (fits) decision.Start(job, static_cast<int>(type)), room[type] -= gang;
          } else if (stream.Below(6) == 0 && view.running().size() > 1) {
            fits ? decision.Move(job, static_cast<int>(type)) : decision.Stop(job);
            room[type] -= fits ? gang : 0;
          }
        }
        REQUIRE(simulator.Apply(decision).ok());
        REQUIRE(test::Observe(auditor, simulator) == "");
      }
      REQUIRE(test::Observe(auditor, simulator) == "");
      REQUIRE(simulator.finished());
    }
  }
}

}  // namespace berth
