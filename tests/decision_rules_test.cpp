// Which decisions are legal: every rule by a legal decision changed in one place, and random decisions
// against a second opinion that counts on sets.
#include <map>
#include <set>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// Six jobs: 0 (gang 2) and 1 run on a (devices 0-3), 2 and 3 (gang 2) wait, 4 is done, 5 is to come. b:
// device 4.
Simulator Middle() {
  ScenarioData data = test::TinyData({{"a", 4}, {"b", 1}}, {{1.0, 1.0}, {1.0, 0.0}},
                                     {{0, 500, 0, 2}, {0, 500}, {10, 50}, {10, 50, 1, 2}, {0, 10}, {900, 9}});
  std::swap(data.jobs.arrival[2],
            data.jobs.arrival[4]);  // sorted by arrival: the job that is done comes third
  std::swap(data.jobs.total_steps[2], data.jobs.total_steps[4]);
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 0), decision.Start(2, 1);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  REQUIRE(simulator.now() == 10.0);
  const std::span<const int> waiting = simulator.state().waiting;
  REQUIRE(std::vector<int>(waiting.begin(), waiting.end()) == std::vector<int>{3, 4});
  return simulator;
}
constexpr int kGang = 0, kOne = 1, kDone = 2, kWaitingGang = 3, kWaiting = 4, kFuture = 5;
constexpr int kA = 0, kB = 1;

// A second opinion, by counting: is the decision legal?
bool Legal(const Decision& decision, const Simulator& simulator) {
  const Scenario& scenario = simulator.scenario();
  const SimState& s = simulator.state();
  std::set<int> named, leaving, taken;
  std::map<int, int> asked;
  for (const Command& c : decision.commands) {
    if (c.job < 0 || c.job >= scenario.num_jobs() || !named.insert(c.job).second) return false;
    const bool running = c.kind == CommandKind::kStop || c.kind == CommandKind::kMove;
    if (s.phase[static_cast<std::size_t>(c.job)] != (running ? JobPhase::kRunning : JobPhase::kWaiting))
      return false;
    if (running) leaving.insert(c.job);
  }
  for (const Command& c : decision.commands) {
    if (c.kind != CommandKind::kStart && c.kind != CommandKind::kMove) continue;
    if (c.type < 0 || c.type >= scenario.num_types() || scenario.Rate(c.job, c.type) <= 0.0) return false;
    const int gang = scenario.data().jobs.gang[static_cast<std::size_t>(c.job)];
    asked[c.type] += gang;
    if (c.devices_count == 0) continue;
    if (c.devices_count != gang) return false;
    for (int k = 0; k < gang; ++k) {
      const int d = decision.devices[static_cast<std::size_t>(c.devices_begin + k)];
      const int first = scenario.first_device(c.type);
      if (d < first || d >= first + scenario.data().cluster.types[static_cast<std::size_t>(c.type)].count)
        return false;
      const int holder = s.device_job[static_cast<std::size_t>(d)];
      if ((holder >= 0 && leaving.count(holder) == 0) || !taken.insert(d).second) return false;
    }
  }
  for (const auto& [type, gpus] : asked) {
    int room = scenario.data().cluster.types[static_cast<std::size_t>(type)].count;
    for (int d = 0; d < scenario.num_gpus(); ++d) {
      const int holder = s.device_job[static_cast<std::size_t>(d)];
      const bool here = d >= scenario.first_device(type) &&
                        d < scenario.first_device(type) +
                                scenario.data().cluster.types[static_cast<std::size_t>(type)].count;
      room -= here && holder >= 0 && leaving.count(holder) == 0;
    }
    if (gpus > room) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("decision rules: each is reported for the one change that breaks it, and nothing moves",
          "[checker]") {
  Simulator simulator = Middle();
  struct Change {
    Rule rule;
    int command;  // the one at fault
    void (*legal)(Decision&);
    void (*broken)(Decision&);
  };
  const Change changes[] = {
      {Rule::kUnknownJob, 0, [](Decision& d) { d.Reject(kWaiting); }, [](Decision& d) { d.Reject(6); }},
      {Rule::kUnknownJob, 0, [](Decision& d) { d.Reject(kWaiting); }, [](Decision& d) { d.Reject(-1); }},
      {Rule::kNotArrived, 0, [](Decision& d) { d.Start(kWaiting, kA); },
       [](Decision& d) { d.Start(kFuture, kA); }},
      {Rule::kNotWaiting, 0, [](Decision& d) { d.Start(kWaiting, kA); },
       [](Decision& d) { d.Start(kOne, kA); }},
      {Rule::kNotWaiting, 0, [](Decision& d) { d.Reject(kWaiting); }, [](Decision& d) { d.Reject(kOne); }},
      {Rule::kNotWaiting, 0, [](Decision& d) { d.Start(kWaiting, kA); },
       [](Decision& d) { d.Start(kDone, kA); }},
      {Rule::kNotRunning, 0, [](Decision& d) { d.Stop(kOne); }, [](Decision& d) { d.Stop(kWaiting); }},
      {Rule::kNotRunning, 0, [](Decision& d) { d.Move(kOne, kB); }, [](Decision& d) { d.Move(kDone, kB); }},
      {Rule::kUnknownType, 0, [](Decision& d) { d.Start(kWaiting, kB); },
       [](Decision& d) { d.Start(kWaiting, 2); }},
      {Rule::kUnknownType, 0, [](Decision& d) { d.Move(kOne, kB); }, [](Decision& d) { d.Move(kOne, -1); }},
      // Kind 1 has rate 0 on b, and a gang of two is larger than b.
      {Rule::kCannotRun, 1, [](Decision& d) { d.Stop(kGang), d.Start(kWaitingGang, kA); },
       [](Decision& d) { d.Stop(kGang), d.Start(kWaitingGang, kB); }},
      {Rule::kNoRoom, 2, [](Decision& d) { d.Stop(kGang), d.Start(kWaitingGang, kA); },
       [](Decision& d) { d.Stop(kOne), d.Start(kWaitingGang, kA), d.Start(kWaiting, kA); }},
      {Rule::kNoRoom, 1, [](Decision& d) { d.Start(kWaiting, kB), d.Move(kOne, kA); },
       [](Decision& d) { d.Start(kWaiting, kB), d.Move(kOne, kB); }},
      {Rule::kTwice, 1, [](Decision& d) { d.Stop(kOne), d.Stop(kGang); },
       [](Decision& d) { d.Stop(kOne), d.Stop(kOne); }},
      {Rule::kTwice, 1, [](Decision& d) { d.Start(kWaiting, kA), d.Reject(kWaitingGang); },
       [](Decision& d) { d.Start(kWaiting, kA), d.Reject(kWaiting); }},
      {Rule::kDeviceBusy, 0, [](Decision& d) { d.Start(kWaiting, kA, std::vector<int>{3}); },
       [](Decision& d) { d.Start(kWaiting, kA, std::vector<int>{0}); }},
      {Rule::kDeviceBusy, 1,
       [](Decision& d) {
         d.Stop(kGang), d.Start(kWaitingGang, kA, std::vector<int>{0, 1});
       },
       [](Decision& d) {
         d.Stop(kGang), d.Start(kWaitingGang, kA, std::vector<int>{1, 1});
       }},
      {Rule::kDeviceBusy, 2,
       [](Decision& d) {
         d.Stop(kGang), d.Start(kWaiting, kA, std::vector<int>{0}), d.Move(kOne, kA, std::vector<int>{1});
       },
       [](Decision& d) {
         d.Stop(kGang), d.Start(kWaiting, kA, std::vector<int>{0}), d.Move(kOne, kA, std::vector<int>{0});
       }},
      {Rule::kDeviceOfOtherType, 0, [](Decision& d) { d.Start(kWaiting, kB, std::vector<int>{4}); },
       [](Decision& d) { d.Start(kWaiting, kB, std::vector<int>{3}); }},
      {Rule::kDeviceOfOtherType, 0, [](Decision& d) { d.Start(kWaiting, kA, std::vector<int>{3}); },
       [](Decision& d) { d.Start(kWaiting, kA, std::vector<int>{-1}); }},
      {Rule::kWrongDeviceCount, 1,
       [](Decision& d) {
         d.Stop(kGang), d.Start(kWaitingGang, kA, std::vector<int>{0, 3});
       },
       [](Decision& d) { d.Stop(kGang), d.Start(kWaitingGang, kA, std::vector<int>{0}); }},
  };
  std::set<Rule> met;
  for (const Change& change : changes) {
    CAPTURE(static_cast<int>(change.rule), change.command);
    Decision legal, broken;
    change.legal(legal);
    change.broken(broken);
    Simulator copy = simulator;
    CHECK(copy.Apply(legal).ok());
    const std::uint64_t before = simulator.signature();
    const ApplyResult result = simulator.Apply(broken);
    CHECK(result.rule == change.rule);
    CHECK(result.command == change.command);
    CHECK(Explain(result, broken, simulator) != "legal");
    CHECK(Explain(result, broken, simulator) != "unknown rule");
    CHECK(Explain(result, broken, simulator).find(Join("job ", broken.commands[U(result.command)].job)) == 0);
    // Nothing moved: the same log, and the legal decision still gives what it gave.
    CHECK(simulator.signature() == before);
    CHECK(CheckInvariants(simulator) == "");
    Simulator after = simulator;
    REQUIRE(after.Apply(legal).ok());
    CHECK(after.signature() == copy.signature());
    met.insert(change.rule);
  }
  for (int rule = 1; rule <= static_cast<int>(Rule::kTwice); ++rule) {  // kTwice is the last
    CAPTURE(rule);
    CHECK(met.count(static_cast<Rule>(rule)) == 1);
  }
}

TEST_CASE("decision rules: nobody is put beside a job that does not exist", "[checker]") {
  Simulator simulator = Middle();
  for (const int host : {-1, -1000000, 6, 1000000}) {
    CAPTURE(host);
    Decision decision;
    decision.Pack(kWaiting, host);
    CHECK(simulator.Apply(decision).rule == Rule::kPackHost);
  }
}

TEST_CASE("decision rules: random decisions are legal by a second opinion exactly when they are taken",
          "[checker]") {
  Stream stream(1, Purpose::kTest, Split::kEvaluate);
  int legal = 0, illegal = 0;
  for (int run = 0; run < 40; ++run) {
    std::vector<test::TinyJob> jobs;
    for (int j = 0; j < 10; ++j) {
      jobs.push_back(
          {4.0 * j, 20.0 + stream.Below(60), static_cast<int>(stream.Below(2)), 1 << stream.Below(2)});
    }
    Simulator simulator(test::Tiny({{"a", 3}, {"b", 2}}, {{1.0, 2.0}, {1.0, 0.0}}, jobs));
    Auditor auditor;
    while (simulator.AdvanceToDecision() && simulator.now() < 300.0) {
      REQUIRE(test::Observe(auditor, simulator) == "");
      for (int trial = 0; trial < 30; ++trial) {
        Decision decision;
        const int commands = 1 + static_cast<int>(stream.Below(3));
        for (int i = 0; i < commands; ++i) {
          const int job = static_cast<int>(stream.Below(12)) - 1;
          const int type = static_cast<int>(stream.Below(8)) / 3;  // 0, 1, seldom 2
          std::vector<int> devices;
          if (stream.Below(3) == 0) {
            for (std::uint32_t k = 1 + stream.Below(2); k > 0; --k)
              devices.push_back(static_cast<int>(stream.Below(5)));
          }
          switch (stream.Below(4)) {
            case 0:
              decision.Stop(job);
              break;
            case 1:
              decision.Move(job, type, devices);
              break;
            default:
              decision.Start(job, type, devices);
          }
        }
        const bool expected = Legal(decision, simulator);
        REQUIRE(simulator.Apply(decision).ok() == expected);
        REQUIRE(test::Observe(auditor, simulator) == "");
        ++(expected ? legal : illegal);
      }
      Decision again;
      again.wake_at = simulator.now() + 3.0;  // random plans may leave nothing running
      REQUIRE(simulator.Apply(again).ok());
    }
  }
  CHECK(legal > 1000);
  CHECK(illegal > 1000);
}

}  // namespace berth
