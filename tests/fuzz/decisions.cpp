// Commands in random clusters. Half of the inputs are a small cluster of whole seconds and rates that are powers of two, scheduled at random
// in the simulator and in the model of pairs (tests/pair_model.hpp), which must agree to the bit. The others are clusters with features, under
// whatever commands the input says, legal or not: the simulator's auditor looks at every event, after every advance and every decision the
// invariants must hold, and what was refused must have changed nothing.
#include <algorithm>
#include <vector>

#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/auditor.hpp"
#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/fuzz/drawn_cluster.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/pair_model.hpp"
#include "tests/tiny.hpp"

namespace berth::fuzz {
namespace {

// ---- the model of pairs

Clock ExactClock(Input& in) {
  switch (in.Below(3)) {
    case 0: return {ClockKind::kEvent};
    case 1: return {ClockKind::kRounds, 16.0};
    default: return {ClockKind::kReferenceRounds, 16.0};
  }
}

// Rates alone of 1, 2 and 4, beside another job the same, half of it or nothing; gangs of 1 and 2.
Scenario Exact(Input& in) {
  const Clock clock = ExactClock(in);
  const bool costly = in.Coin();
  std::vector<std::vector<double>> rates(3, std::vector<double>(2));
  for (auto& row : rates) {
    for (double& rate : row) rate = static_cast<double>(1U << in.Below(3));
  }
  if (in.Coin()) rates[1][1] = 0.0;
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  const int n = 1 + in.Below(24);
  for (int j = 0; j < n; ++j) {
    now += in.Below(16);
    jobs.push_back({j == 0 ? 0.0 : now, 4.0 * (1 + in.Below(40)), in.Below(3), in.Below(4) == 0 ? 2 : 1});
  }
  ScenarioData data = test::TinyData({{"a", 2 + in.Below(3)}, {"b", 2 + in.Below(2)}}, rates, jobs, clock);
  data.throughputs.pairs.assign(3 * 3 * 2 * 2, 0.0);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      for (std::size_t type = 0; type < 2; ++type) {
        const auto part = [&](std::size_t kind) {
          const int choice = in.Below(5);
          return choice == 0 ? 0.0 : choice < 3 ? rates[kind][type] : rates[kind][type] / 2.0;
        };
        const double first = part(a), second = a == b ? first : part(b);
        double* const there = &data.throughputs.pairs[((a * 3 + b) * 2 + type) * 2];
        double* const back = &data.throughputs.pairs[((b * 3 + a) * 2 + type) * 2];
        there[0] = back[1] = first, there[1] = back[0] = second;
      }
    }
  }
  if (costly) data.costs = {1.0, 2.0, 4.0};
  return Scenario(std::move(data));
}

// As if weights were drawn anew whenever somebody comes or goes: who runs where, alone or beside whom, changes at random, and
// stays while nothing happens, so that every job is done in the end.
test::SeatRule Shuffled(std::uint64_t salt) {
  return [salt](const Scenario& scenario, const std::vector<test::SeatedJob>& present, Decision& decision) {
    std::uint64_t who = salt;
    for (const test::SeatedJob& job : present) who = (who ^ static_cast<std::uint64_t>(job.index + 1)) * 0x100000001b3ULL;
    std::vector<test::SeatedJob> shuffled = present;
    for (test::SeatedJob& job : shuffled) {
      std::uint64_t mixed = (who ^ static_cast<std::uint64_t>(job.index)) * 0x9e3779b97f4a7c15ULL;
      job.weight = static_cast<double>((mixed ^ mixed >> 29) % 7);
    }
    test::PackingRule(scenario, shuffled, decision);
  };
}

// Of features timers fire between decisions, at which only the simulator's own auditor looks (Audited below); one that is called here
// keeps books of clusters without features.
void MustHold(Auditor& auditor, const Simulator& simulator, const char* when) {
  const std::string violation = simulator.scenario().plain() ? test::Observe(auditor, simulator) : CheckInvariants(simulator);
  if (violation.empty()) return;
  const ScenarioData& data = simulator.scenario().data();
  Fail(Join("at ", simulator.now(), " s, behind ", when, ": ", violation, " (clock ", data.clock.ToString(), ", features '",
            ToString(data.features), "', ", data.provenance, ")"));
}

void AgreeWithModel(Input& in) {
  const Scenario scenario = Exact(in);
  const test::SeatRule rule = Shuffled(in.Word());
  Simulator simulator(scenario);
  Auditor auditor;
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    MustHold(auditor, simulator, "an advance");
    const ClusterView view = simulator.View(Knowledge::kNone);
    std::vector<test::SeatedJob> present;
    for (const int job : view.active())
      present.push_back({job, view.Gang(job), view.TypeOf(job), view.Partner(job), view.Weight(job)});
    decision.Clear();
    rule(scenario, present, decision);
    const ApplyResult applied = simulator.Apply(decision);
    if (!applied.ok()) Fail(Explain(applied, decision, simulator));
    MustHold(auditor, simulator, "a decision");
  }
  if (!simulator.finished()) Fail("a run that does not end");
  const test::PairModelResult model = test::PairSimulate(scenario, rule);
  if (simulator.state().completion != model.completion) Fail("the model completes a job at another instant");
  for (int type = 0; type < scenario.num_types(); ++type) {
    const double found = simulator.BusySeconds(type), expected = model.busy[U(type)];  // sums in another order
    if (std::abs(found - expected) > 1e-9 * (1.0 + expected)) Fail(Join("busy seconds: ", found, ", of the model ", expected));
  }
}

// ---- with features

// Any command: of jobs, types, devices and numbers that may not be.
void AnyCommand(Input& in, const Simulator& simulator, Decision& decision) {
  const SimState& state = simulator.state();
  const auto one_of = [&](const auto& list) {
    const int which = in.Byte();
    std::vector<int> jobs(list.begin(), list.end());
    return jobs.empty() ? which - 2 : jobs[U(which % static_cast<int>(jobs.size()))];
  };
  const bool wild = in.Below(8) == 0;
  const int waiting = wild ? in.Byte() - 2 : one_of(state.waiting), running = wild ? in.Byte() - 2 : one_of(state.running);
  const int type = in.Below(simulator.scenario().num_types() + (wild ? 2 : 0)) - (wild ? 1 : 0);
  switch (in.Below(10)) {
    case 0:
    case 1: decision.Start(waiting, type); break;
    case 2: decision.Stop(running); break;
    case 3: decision.Move(running, type); break;
    case 4: decision.StartAt(waiting, type, in.Below(6)); break;
    case 5: decision.Resize(running, type, in.Below(6)); break;
    case 6: decision.Pack(in.Coin() ? waiting : running, running); break;
    case 7: {
      std::vector<int> devices;
      for (int n = in.Below(5); n > 0; --n) devices.push_back(in.Below(14) - (wild ? 1 : 0));
      if (in.Coin()) {
        decision.Start(waiting, type, devices);
      } else {
        decision.Move(running, type, devices);
      }
      break;
    }
    case 8:
      if (in.Below(4) == 0) decision.Reject(waiting);
      break;
    default: {
      const auto kind = static_cast<ControlKind>(in.Below(7));
      const int index = in.Below(16) - (wild ? 1 : 0);
      decision.controls.push_back({kind, index, in.Coin() ? in.Number() : static_cast<double>(in.Below(8)) / 4.0});
    }
  }
}

// Waiting jobs in order on the first type with room, each by itself, so that one that a feature refuses is passed over.
void StartWhatFits(Simulator& simulator) {
  Decision one;
  std::vector<int> waiting(simulator.state().waiting.begin(), simulator.state().waiting.end());
  Decision all;
  for (const int job : waiting) {
    for (int type = 0; type < simulator.scenario().num_types(); ++type) {
      all.Start(job, type);
      if (simulator.Validate(all).ok()) break;
      all.commands.pop_back();
    }
  }
  if (const ApplyResult applied = simulator.Apply(all); !applied.ok()) Fail("what was valid is refused: " + Explain(applied, all, simulator));
}

void HoldUnderCommands(Input& in) {
  Simulator simulator(DrawnCluster(in));
  Auditor auditor;
  Decision decision;
  constexpr int kMostDecisions = 80;
  for (int step = 0; step < kMostDecisions && simulator.AdvanceToDecision(); ++step) {
    MustHold(auditor, simulator, "an advance");
    if (in.empty()) {
      StartWhatFits(simulator);
      MustHold(auditor, simulator, "a decision");
      continue;
    }
    decision.Clear();
    for (int commands = in.Below(5); commands > 0; --commands) AnyCommand(in, simulator, decision);
    // Features that play every request of an hour take as long as it has requests: nobody wakes in 30 years.
    if (in.Below(4) == 0) decision.wake_at = in.Coin() && simulator.scenario().plain() ? in.Number() : simulator.now() + 60.0 * in.Byte();
    const std::uint64_t before = simulator.signature();
    const ApplyResult applied = simulator.Apply(decision);
    if (!applied.ok()) {
      if (Explain(applied, decision, simulator) == "legal") Fail("refused, and said to be legal");
      if (simulator.signature() != before) Fail("what was refused has changed something");
      MustHold(auditor, simulator, "a refusal");
      decision.Clear();
      StartWhatFits(simulator);
    }
    MustHold(auditor, simulator, "a decision");
  }
}

}  // namespace

bool Run_decisions(Bytes bytes) {
  const Audited audited;
  Input in(bytes);
  if (in.Coin()) {
    AgreeWithModel(in);
  } else {
    Accepted([&] { HoldUnderCommands(in); });
  }
  return true;
}

}  // namespace berth::fuzz
