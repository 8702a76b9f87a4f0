// A deliberate bug for every rule of env/sim/invariants.cpp: what it would leave in the state is put there,
// and exactly that rule reports it.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Frame;

// At 40 s: job 0 is done; jobs 1 (gang 2, devices 0 and 1 of type a) and 2 (device 4 of type b) run; job 3
// (gang 4) waits; job 4 is to come; devices 2 and 3 of a and 5 of b are idle.
Simulator Middle() {
  Simulator simulator(test::Tiny({{"a", 4}, {"b", 2}}, {{1.0, 1.0}},
                                 {{0, 10}, {0, 500, 0, 2}, {5, 500}, {40, 9, 0, 4}, {900, 9}}));
  const auto decide = [&](double at, const std::function<void(Decision&)>& fill) {
    REQUIRE(simulator.AdvanceToDecision());
    REQUIRE(simulator.now() == at);
    Decision decision;
    fill(decision);
    REQUIRE(simulator.Apply(decision).ok());
  };
  decide(0, [](Decision& d) { d.Start(0, 1), d.Start(1, 0); });
  decide(5, [](Decision& d) { d.Start(2, 1, std::vector<int>{5}); });
  decide(10, [](Decision& d) { d.Move(2, 1, std::vector<int>{4}); });
  decide(40, [](Decision&) {});
  return simulator;
}

struct Bug {
  const char* rule;
  const char* what;
  std::function<void(Frame&)> spoil;
};

const std::vector<Bug>& Bugs() {
  static const std::vector<Bug> kBugs = {
      {"capacity", "half of a held device is given back", [](Frame& f) { f.state.device_milli[0] = 500; }},
      {"capacity", "an idle device is lost", [](Frame& f) { f.state.device_milli[2] = 0; }},
      {"free counts", "a release is counted twice", [](Frame& f) { ++f.state.free_gpus[0]; }},
      {"free counts", "a start is not counted", [](Frame& f) { ++f.state.free_gpus[1]; }},
      {"device types", "a job is noted on the other type", [](Frame& f) { f.state.on_type[1] = 1; }},
      {"whole gangs", "a gang runs with one device less",
       [](Frame& f) {
         f.state.device_job[1] = -1, f.state.device_milli[1] = 1000, ++f.state.free_gpus[0];
         f.state.device_slots[U(f.state.slot[1])].pop_back();
       }},
      {"whole gangs", "a job takes a device too many",
       [](Frame& f) {
         f.state.device_job[5] = 2, f.state.device_milli[5] = 0, --f.state.free_gpus[1];
         f.state.device_slots[U(f.state.slot[2])].push_back(5);
       }},
      {"device lists", "two jobs list one device",
       [](Frame& f) { f.state.device_slots[U(f.state.slot[1])][1] = 4; }},
      {"device lists", "a device is held by a job that does not list it",
       [](Frame& f) { f.state.device_slots[U(f.state.slot[1])].pop_back(); }},
      {"placement", "a waiting job keeps its type", [](Frame& f) { f.state.on_type[3] = 0; }},
      {"arrivals", "a job is let in early",
       [](Frame& f) {
         f.state.phase[4] = JobPhase::kWaiting;
         f.state.waiting.Insert(4), f.state.active.Insert(4);
       }},
      {"steps", "work is undone", [](Frame& f) { f.state.steps_done[3] = -1.0; }},
      {"steps", "more is done than there is", [](Frame& f) { f.state.steps_done[1] = 500.1; }},
      {"steps", "a job is let go before its work is done", [](Frame& f) { f.state.steps_done[0] = 9.9; }},
      {"first starts", "a start before the arrival", [](Frame& f) { f.state.first_start[2] = 4.0; }},
      {"first starts", "a running job never started", [](Frame& f) { f.state.first_start[1] = kNever; }},
      {"completions", "a job completes ahead of time", [](Frame& f) { f.state.completion[0] = 41.0; }},
      {"completions", "a running job is marked complete", [](Frame& f) { f.state.completion[1] = 39.0; }},
      {"lists", "a waiting job is forgotten", [](Frame& f) { f.state.waiting.Reset(5); }},
      {"lists", "a waiting job is listed as running", [](Frame& f) { f.state.running.Insert(3); }},
      {"lists", "a done job is still active", [](Frame& f) { f.state.active.Insert(0); }},
      {"rates", "a job keeps the rate of a pair", [](Frame& f) { f.state.rate[2] = 0.5; }},
      {"pairs", "a job that left is still somebody's partner", [](Frame& f) { f.state.partner[0] = 2; }},
      {"GPU-seconds", "a job's time on GPUs is not charged", [](Frame& f) { f.state.run_seconds[0] = 0.0; }},
      {"GPU-seconds", "a type's time is charged twice", [](Frame& f) { f.busy_seconds[0] *= 2.0; }},
      {"saved steps", "more is saved than was done",
       [](Frame& f) {
         f.state.lost_steps.assign(f.state.steps_done.size(), 0.0);
         f.state.interruptions.assign(f.state.steps_done.size(), 0);
         f.state.safe_steps = f.state.lost_steps;
         f.state.safe_steps[3] = 1e9;
       }},
  };
  return kBugs;
}

}  // namespace

TEST_CASE("invariants: each rule reports its bugs, and no other rule does", "[checker]") {
  const Simulator simulator = Middle();
  const Scenario& scenario = simulator.scenario();
  REQUIRE(CheckInvariants(simulator) == "");
  std::set<std::string> met;
  for (const Bug& bug : Bugs()) {
    CAPTURE(bug.rule, bug.what);
    Frame frame(simulator);
    bug.spoil(frame);
    for (const Invariant& invariant : Invariants()) {
      CAPTURE(invariant.name);
      CHECK(invariant.violation(frame.Invariant(scenario)).empty() ==
            (std::string(invariant.name) != bug.rule));
    }
    CHECK(CheckInvariants(frame.Invariant(scenario)).rfind(std::string(bug.rule) + ": ", 0) == 0);
    met.insert(bug.rule);
  }
  // All of these have a first job that comes at once.
  const Simulator before(test::Tiny({{"a", 1}}, {{1.0}}, {{5, 10}}));
  Frame early(before);
  early.state.phase[0] = JobPhase::kWaiting;
  early.state.waiting.Insert(0), early.state.active.Insert(0);
  CHECK(CheckInvariants(early.Invariant(before.scenario())).rfind("arrivals: job 0 ", 0) == 0);
  // The rule of a feature bears its name, and the feature's own test has its bugs.
  std::set<std::string> features;
  for (const FeatureInfo& feature : ListFeatures(ShippedFeatures())) features.insert(feature.name);
  for (const Invariant& invariant : Invariants()) {
    INFO("a rule without a bug that shows it: " << invariant.name);
    CHECK((met.count(invariant.name) == 1 || features.count(invariant.name) == 1));
  }
}

}  // namespace berth
