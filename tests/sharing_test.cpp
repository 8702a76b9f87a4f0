// Two jobs on one GPU (Decision::Pack): hand-worked cases under each clock, every rule that a pack can break,
// and a second simulator (tests/pair_model.cpp) on random scenarios.
#include <vector>

#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/pair_model.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::TinyData;

// Sets the rates of job types a and b while they share a GPU of `type`.
void SetPair(ScenarioData& data, int a, int b, int type, double rate_a, double rate_b) {
  const std::size_t types = data.cluster.types.size(), kinds = data.throughputs.job_types.size();
  auto& pairs = data.throughputs.pairs;
  pairs.resize(kinds * kinds * types * 2, 0.0);
  const auto at = [&](int x, int y) {
    return ((static_cast<std::size_t>(x) * kinds + static_cast<std::size_t>(y)) * types +
            static_cast<std::size_t>(type)) *
           2;
  };
  pairs[at(a, b)] = pairs[at(b, a) + 1] = rate_a;
  pairs[at(a, b) + 1] = pairs[at(b, a)] = rate_b;
}

// Type 0 runs at 4 steps/s alone and 3 beside a job of type 1, which runs at 2 alone and 1 beside.
ScenarioData TwoKinds(const std::vector<test::TinyJob>& jobs, Clock clock, int gpus = 1) {
  ScenarioData data = TinyData({{"a", gpus}}, {{4.0}, {2.0}}, jobs, clock);
  SetPair(data, 0, 1, 0, 3.0, 1.0);
  return data;
}

template <typename Fill>
void Decide(Simulator& simulator, Fill&& fill) {
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  fill(decision);
  const ApplyResult applied = simulator.Apply(decision);
  INFO(Explain(applied, decision, simulator));
  REQUIRE(applied.ok());
  REQUIRE(CheckInvariants(simulator) == "");
}

double DoneAt(const Simulator& simulator, int job) {
  return simulator.state().completion[static_cast<std::size_t>(job)];
}

}  // namespace

TEST_CASE("sharing, event and hpc clock: pair rates from the pack on, the own rate from the other's end on") {
  for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kHpc}}) {
    CAPTURE(clock.ToString());
    // Job 0 (100 steps) runs alone over [0, 10) at 4: 40 done. Job 1 (50 steps) arrives at 10 and is packed:
    // job 0 needs 60 / 3 = 20 s more and ends at 30, when job 1 has done 20. Alone, its 30 left take 15
    // s: 45.
    Simulator simulator(Scenario(TwoKinds({{0, 100, 0}, {10, 50, 1}}, clock)), {.keep_events = true});
    Decide(simulator, [](Decision& d) { d.Start(0, 0); });
    Decide(simulator, [](Decision& d) { d.Pack(1, 0); });
    const ClusterView view = simulator.View(Knowledge::kOracle);
    CHECK(view.Partner(0) == 1);
    CHECK(view.Partner(1) == 0);
    CHECK(view.Devices(1)[0] == view.Devices(0)[0]);
    CHECK(view.free_gpus()[0] == 0);
    CHECK(view.PairRate(0, 1, 0) == 3.0);
    CHECK(view.PairRate(1, 0, 0) == 1.0);
    CHECK(simulator.events().back().kind == EventKind::kPack);
    Decide(simulator, [](Decision&) {});
    CHECK(simulator.now() == 30.0);
    CHECK(simulator.state().completed == std::vector<int>{0});
    CHECK(view.AttainedSteps(1) == 20.0);
    CHECK(view.Partner(1) == -1);
    CHECK_FALSE(simulator.AdvanceToDecision());
    CHECK(DoneAt(simulator, 0) == 30.0);
    CHECK(DoneAt(simulator, 1) == 45.0);
    // One GPU was busy over [0, 45); job 0 held it 30 s and job 1 35 s, 20 of them together.
    CHECK(simulator.BusySeconds(0) == 45.0);
    CHECK(view.AttainedSeconds(0) == 30.0);
    CHECK(view.AttainedSeconds(1) == 35.0);
    CHECK(simulator.state().SharedSeconds(0) == 20.0);
    CHECK(simulator.state().SharedSeconds(1) == 20.0);
    CHECK(Measure(simulator, {}).utilization == 1.0);
    CHECK(simulator.state().free_gpus[0] == 1);
  }
}

TEST_CASE(
    "sharing, event clock: stopping one leaves the other alone from that instant on, and its GPU held") {
  // Packed from 0: job 0 at 3, job 1 at 1. Job 2 arrives at 10 and job 0 (30 of 100 steps done) is stopped:
  // job 1 has 40 of 50 left, alone at 2 steps/s: 20 s, done at 30. Job 0 goes on then: 70 / 4 = 17.5 s, done
  // at 47.5.
  Simulator simulator(Scenario(TwoKinds({{0, 100, 0}, {0, 50, 1}, {10, 1, 0}}, {})));
  Decide(simulator, [](Decision& d) { d.Pack(1, 0), d.Start(0, 0); });
  Decide(simulator, [](Decision& d) { d.Stop(0), d.Reject(2); });
  CHECK(simulator.state().free_gpus[0] == 0);
  CHECK(simulator.BusySeconds(0) == 10.0);
  Decide(simulator, [](Decision& d) { d.Start(0, 0); });
  CHECK(DoneAt(simulator, 1) == 30.0);
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(DoneAt(simulator, 0) == 47.5);
  CHECK(simulator.BusySeconds(0) == 47.5);
}

TEST_CASE("sharing, event clock: a pair changes its GPU as a whole, and both pay for the move") {
  // Types a and b; on b the pair runs at 6 and 2. Packed on a from 0; at 10 (30 of 90 and 10 of 50 steps
  // done) both go to b and are held for 2 + 3 + 5 = 10 s to 20: then 60 / 6 = 10 s: job 0 ends at 30, where
  // job 1 has done 30; alone on b at 4, its 20 left take 5 s: 35.
  ScenarioData data =
      TinyData({{"a", 1}, {"b", 1}}, {{4.0, 8.0}, {2.0, 4.0}}, {{0, 90, 0}, {0, 50, 1}, {10, 1, 0}});
  SetPair(data, 0, 1, 0, 3.0, 1.0);
  SetPair(data, 0, 1, 1, 6.0, 2.0);
  data.costs = {2.0, 3.0, 5.0};
  Simulator simulator{Scenario(data)};
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  Decide(simulator, [](Decision& d) { d.Pack(1, 0), d.Move(0, 1), d.Start(2, 0); });  // a is free for job 2
  CHECK(simulator.state().Devices(1)[0] == 1);
  while (simulator.AdvanceToDecision()) REQUIRE(simulator.Apply({}).ok());
  CHECK(DoneAt(simulator, 0) == 30.0);
  CHECK(DoneAt(simulator, 1) == 35.0);
  CHECK(DoneAt(simulator, 2) == 10.25);
  CHECK(simulator.BusySeconds(0) == 10.25);
  CHECK(simulator.BusySeconds(1) == 25.0);
  CHECK(simulator.state().preemptions[0] == 1);
  CHECK(simulator.state().preemptions[1] == 1);
}

TEST_CASE("sharing, event clock: a pair that ends at one instant is one decision point") {
  // 30 / 3 = 10 s and 10 / 1 = 10 s.
  Simulator simulator(Scenario(TwoKinds({{0, 30, 0}, {0, 10, 1}, {0, 4, 0}}, {})));
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  Decide(simulator, [](Decision& d) { d.Start(2, 0); });
  CHECK(simulator.state().completed == std::vector<int>{0, 1});
  CHECK(simulator.now() == 10.0);
  CHECK(simulator.BusySeconds(0) == 10.0);
}

TEST_CASE("sharing, event clock: what rounding leaves of a job at its end does not outlive the pair") {
  // In doubles 15 / (15 / 11) is 11, but 15 / 11 * 11 is 15 less 2^-49: at 11, where job 0 ends, job 1 would
  // still have that much to do alone, at 1/8 step/s 1.4e-14 s.
  ScenarioData data = TinyData({{"a", 1}}, {{4.0}, {0.125}}, {{0, 11, 0}, {0, 15, 1}});
  SetPair(data, 0, 1, 0, 1.0, 15.0 / 11.0);
  REQUIRE(15.0 - 15.0 / 11.0 * 11.0 > 0.0);
  REQUIRE(15.0 / (15.0 / 11.0) == 11.0);
  Simulator simulator{Scenario(data)};
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(simulator.state().completed == std::vector<int>{0, 1});
  CHECK(DoneAt(simulator, 1) == 11.0);
}

TEST_CASE("sharing, rounds clock: the one that stays keeps the pair rate up to the boundary") {
  // Rounds of 10 s. Packed from 0 at 3 and 1: job 0 (45 steps) ends at 15, inside the second round; job 1 (50
  // steps) has done 20 at the boundary 20, then 30 / 2 = 15 s alone: done at 35.
  Simulator simulator(Scenario(TwoKinds({{0, 45, 0}, {0, 50, 1}}, {ClockKind::kRounds, 10.0})));
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  Decide(simulator, [](Decision&) {});
  Decide(simulator, [](Decision&) {});
  CHECK(simulator.now() == 20.0);
  CHECK(DoneAt(simulator, 0) == 15.0);
  CHECK(simulator.View(Knowledge::kBlind).AttainedSteps(1) == 20.0);
  CHECK(simulator.View(Knowledge::kBlind).Partner(1) == -1);
  CHECK(simulator.BusySeconds(0) == 20.0);
  CHECK(simulator.state().SharedSeconds(1) == 15.0);
  while (simulator.AdvanceToDecision()) REQUIRE(simulator.Apply({}).ok());
  CHECK(DoneAt(simulator, 1) == 35.0);
  CHECK(simulator.BusySeconds(0) == 35.0);
}

TEST_CASE("sharing, reference rounds: whole steps at the pair rate, each with its own finish") {
  // Rounds of 10 s; beside each other 0.75 and 0.3 steps/s. A round gives job 0 int(7.5) = 7 steps in 7 /
  // 0.75 s and job 1 int(3) = 3 in 3 / 0.3 s, the round's end: the GPU is busy to the later of the two. Job 0
  // (10 steps) ends in round 2 after 3 / 0.75 = 4 s; job 1 (20 steps) has 6 then, and alone at 2 steps/s
  // takes 14 / 2 = 7 s.
  ScenarioData data = TwoKinds({{0, 10, 0}, {0, 20, 1}}, {ClockKind::kReferenceRounds, 10.0});
  SetPair(data, 0, 1, 0, 0.75, 0.3);
  Simulator simulator{Scenario(data)};
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  Decide(simulator, [](Decision&) {});
  const double round = 3.0 / 0.3;
  CHECK(simulator.now() == round);
  CHECK(simulator.state().steps_done[0] == 7.0);
  CHECK(simulator.state().steps_done[1] == 3.0);
  CHECK(simulator.state().SharedSeconds(1) == 7.0 / 0.75);
  CHECK(simulator.BusySeconds(0) == Approx(round).epsilon(1e-15));
  Decide(simulator, [](Decision&) {});
  CHECK(simulator.now() == round + round);
  CHECK(DoneAt(simulator, 0) == round + 4.0);
  CHECK(simulator.state().steps_done[1] == 6.0);
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(DoneAt(simulator, 1) == round + round + 7.0);
  CHECK(simulator.BusySeconds(0) == Approx(round + round + 7.0).epsilon(1e-15));
}

TEST_CASE("sharing: what a pack can break names its rule and changes nothing") {
  // Types a (3 GPUs) and b (1); kinds 0 and 1 share on a only, 0 and 0 nowhere; job 4 is a gang of 2.
  ScenarioData data = TinyData({{"a", 3}, {"b", 1}}, {{4.0, 4.0}, {2.0, 2.0}},
                               {{0, 99, 0}, {0, 99, 1}, {0, 99, 1}, {0, 99, 0}, {0, 99, 1, 2}, {50, 9, 1}});
  SetPair(data, 0, 1, 0, 3.0, 1.0);
  Simulator simulator{Scenario(data)};
  Decide(simulator, [](Decision& d) { d.Start(0, 0), d.Pack(1, 0); });
  const std::uint64_t before = simulator.signature();
  const auto rule = [&](auto&& fill) {
    Decision decision;
    fill(decision);
    const ApplyResult result = simulator.Apply(decision);
    CHECK(Explain(result, decision, simulator) != "legal");
    CHECK(simulator.signature() == before);
    CHECK(CheckInvariants(simulator) == "");
    return result.rule;
  };
  CHECK(rule([](Decision& d) { d.Pack(9, 0); }) == Rule::kUnknownJob);
  CHECK(rule([](Decision& d) { d.Pack(5, 0); }) == Rule::kNotArrived);
  CHECK(rule([](Decision& d) { d.Pack(2, 9); }) == Rule::kPackHost);
  CHECK(rule([](Decision& d) { d.Pack(2, -1); }) == Rule::kPackHost);
  CHECK(rule([](Decision& d) { d.Pack(2, 2); }) == Rule::kPackHost);
  CHECK(rule([](Decision& d) { d.Pack(2, 3); }) == Rule::kPackHost);  // waits
  CHECK(rule([](Decision& d) { d.Pack(2, 5); }) == Rule::kPackHost);  // has not arrived
  CHECK(rule([](Decision& d) { d.Pack(2, 0), d.Stop(0); }) == Rule::kPackHost);
  CHECK(rule([](Decision& d) { d.Pack(2, 3), d.Reject(3); }) == Rule::kPackHost);
  CHECK(rule([](Decision& d) { d.Pack(2, 0); }) == Rule::kPackShared);
  CHECK(rule([](Decision& d) { d.Pack(3, 1); }) == Rule::kPackShared);
  CHECK(rule([](Decision& d) { d.Pack(2, 0), d.Stop(1), d.Pack(3, 0); }) == Rule::kPackShared);
  CHECK(rule([](Decision& d) { d.Pack(2, 3), d.Pack(3, 0), d.Stop(1); }) == Rule::kPackShared);
  CHECK(rule([](Decision& d) { d.Start(3, 0), d.Pack(4, 3); }) == Rule::kPackGang);
  CHECK(rule([](Decision& d) { d.Start(4, 0), d.Pack(3, 4); }) == Rule::kPackGang);
  CHECK(rule([](Decision& d) { d.Start(3, 1), d.Pack(2, 3); }) == Rule::kPackRate);
  CHECK(rule([](Decision& d) { d.Stop(1), d.Pack(3, 0); }) == Rule::kPackRate);
  CHECK(rule([](Decision& d) { d.Pack(2, 0), d.Pack(2, 0); }) == Rule::kTwice);
  // The GPU of a pair is free only once both leave it.
  CHECK(rule([](Decision& d) { d.Stop(1), d.Start(4, 0), d.Start(2, 0); }) == Rule::kNoRoom);
  CHECK(rule([](Decision& d) { d.Stop(1), d.Start(2, 0, std::vector<int>{0}); }) == Rule::kDeviceBusy);
  CHECK(rule([](Decision& d) { d.Stop(0), d.Start(2, 0, std::vector<int>{0}); }) == Rule::kDeviceBusy);
  Decision decision;
  decision.Stop(1), decision.Stop(0), decision.Start(2, 0, std::vector<int>{0}), decision.Pack(3, 2);
  REQUIRE(simulator.Apply(decision).ok());
  CHECK(simulator.View(Knowledge::kNone).Partner(2) == 3);
}

TEST_CASE("sharing: a job that may not run on a type, or a scenario without pairs, shares nothing") {
  ScenarioData data = TwoKinds({{0, 9, 0}, {0, 9, 1}, {0, 9, 1, 2}}, {}, 2);
  CHECK(Scenario(data).PairRate(0, 1, 0) == 3.0);
  CHECK(Scenario(data).PairRate(0, 2, 0) == 0.0);  // a gang of 2
  SetPair(data, 0, 1, 0, 3.0, 0.0);
  CHECK(Scenario(data).PairRate(0, 1, 0) == 0.0);  // the other cannot run so
  data.throughputs.pairs.clear();
  CHECK(Scenario(data).PairRate(0, 1, 0) == 0.0);
  ScenarioData two = TinyData({{"a", 1}, {"b", 1}}, {{4.0, 4.0}}, {{0, 9}, {0, 9}});
  SetPair(two, 0, 0, 0, 3.0, 3.0);
  CHECK(Scenario(two).PairRate(0, 1, 0) == 3.0);
  two.jobs.allowed = {3, 2};
  CHECK(Scenario(two).PairRate(0, 1, 0) == 0.0);
}

namespace {

// Powers of two: rates alone of 1, 2 and 4, beside another job the same, half of it or nothing.
Scenario Dyadic(std::uint64_t seed, Clock clock) {
  Stream stream(seed, Purpose::kTest, Split::kEvaluate, 1);
  std::vector<std::vector<double>> rates(3, std::vector<double>(2));
  for (auto& row : rates) {
    for (double& rate : row) rate = static_cast<double>(1u << stream.Below(3));
  }
  rates[1][1] = stream.Below(2) == 0 ? 0.0 : 1.0;
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int j = 0; j < 24; ++j) {
    now += stream.Below(16);
    jobs.push_back(
        {now, 4.0 * (1 + stream.Below(40)), static_cast<int>(stream.Below(3)), stream.Below(4) == 0 ? 2 : 1});
  }
  ScenarioData data = TinyData({{"a", 2}, {"b", 2}}, rates, jobs, clock);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      for (int type = 0; type < 2; ++type) {
        const auto part = [&](int kind) {
          const double alone = rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(type)];
          return stream.Below(5) == 0 ? 0.0 : stream.Below(2) == 0 ? alone : alone / 2.0;
        };
        const double first = part(a), second = a == b ? first : part(b);
        SetPair(data, a, b, type, first, second);
      }
    }
  }
  for (int j = 0; j < 24; ++j) data.jobs.weight.push_back(1.0 + stream.Below(3));
  if (seed % 2 == 1) data.costs = {1.0, 2.0, 4.0};
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("sharing: the simulator and a second one complete every job at the same instant") {
  int packs = 0, moved_packs = 0, stops = 0;
  for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 16.0},
                             Clock{ClockKind::kReferenceRounds, 16.0}}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(clock.ToString(), seed);
      const Scenario scenario = Dyadic(seed, clock);
      Simulator simulator(scenario);
      Decision decision;
      while (simulator.AdvanceToDecision()) {
        const ClusterView view = simulator.View(Knowledge::kNone);
        std::vector<test::SeatedJob> present;
        for (int job : view.active()) {
          present.push_back({job, view.Gang(job), view.TypeOf(job), view.Partner(job), view.Weight(job)});
        }
        decision.Clear();
        test::PackingRule(scenario, present, decision);
        const ApplyResult applied = simulator.Apply(decision);
        INFO(Explain(applied, decision, simulator));
        REQUIRE(applied.ok());
        const std::string broken = CheckInvariants(simulator);
        REQUIRE(broken == "");
      }
      REQUIRE(simulator.finished());
      const test::PairModelResult model = test::PairSimulate(scenario, test::PackingRule);
      REQUIRE(simulator.state().completion == model.completion);
      for (int type = 0; type < 2; ++type) {
        // Sums in another order; the terms are exact.
        REQUIRE(simulator.BusySeconds(type) ==
                Approx(model.busy[static_cast<std::size_t>(type)]).epsilon(1e-12));
      }
      packs += model.packs, moved_packs += model.moved_packs, stops += model.stops;
    }
  }
  CHECK(packs > 1000);  // the comparison covers all of it
  CHECK(moved_packs > 1000);
  CHECK(stops > 1000);
}

}  // namespace berth
