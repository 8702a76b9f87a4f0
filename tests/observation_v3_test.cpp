// ObservationV3's channels by hand.
#include <cmath>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/shown.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

const double kLn2 = std::log(2.0);

MdpSpec Mdp(bool preemptive = true, Knowledge knowledge = Knowledge::kOracle) {
  MdpSpec mdp;
  mdp.encoder = "ObservationV3";
  mdp.visible = 5;
  mdp.preemptive = preemptive;
  mdp.knowledge = knowledge;
  return mdp;
}

// Two types of 2 GPUs: fast and slow. Jobs, all at 0, with hours alone on fast and ln slowness on slow:
//   A 1 h, ln 4    B 2 h, ln 2    C 4 h, ln 2, a gang of 2    D 16 h, as fast on slow
Simulator Four() {
  return Simulator(test::Tiny({{"v100", 2}, {"k80", 2}}, {{4.0, 1.0}, {2.0, 1.0}, {1.0, 1.0}},
                              {{0.0, 4.0 * 3600.0, 0, 1},
                               {0.0, 2.0 * 7200.0, 1, 1},
                               {0.0, 2.0 * 14400.0, 1, 2},
                               {0.0, 57600.0, 2, 1}}));
}

struct Row {
  double size_hours, rank, surplus;  // surplus and regrets in ln 2
  double regret[2], keener[2];
  double matched[2];
};

void CheckRow(const test::Shown& shown, int row, const Row& expected) {
  CAPTURE(row);
  CHECK(shown.Job(row, "size") == Approx(std::log(1.0 / 60.0 + expected.size_hours)));
  for (const double knee : {1.0, 4.0, 16.0, 64.0}) {
    const double above = std::log((1.0 / 60.0 + expected.size_hours) / (1.0 / 60.0 + knee));
    CHECK(shown.Job(row, Join("size_", knee)) == Approx(std::max(above, 0.0)));
  }
  CHECK(shown.Job(row, "rank") == Approx(expected.rank));
  CHECK(shown.Job(row, "surplus") == Approx(expected.surplus * kLn2).margin(1e-9));
  for (int type : {0, 1}) {
    CAPTURE(type);
    const double regret = expected.regret[type];
    CHECK(shown.Pair(row, type, "regret") == Approx(regret < 0 ? 10.0 : regret * kLn2).margin(1e-9));
    CHECK(shown.Pair(row, type, "keener") == Approx(expected.keener[type]));
    CHECK(shown.Pair(row, type, "matched") == Approx(expected.matched[type]));
    CHECK(shown.Pair(row, type, "matched_load") ==
          Approx(expected.matched[type] * shown.Global("load")).margin(1e-6));
    CHECK(shown.Pair(row, type, "matched_gpu_load") ==
          Approx(shown.Pair(row, type, "matched_gpu") * shown.Global("load")).margin(1e-6));
    const double capped = regret < 0 ? 5.0 : regret * kLn2;
    CHECK(shown.Pair(row, type, "regret_load") == Approx(capped * shown.Global("load")).margin(1e-6));
    CHECK(shown.Pair(row, type, "regret_size") == Approx(capped * shown.Job(row, "size")).margin(1e-6));
  }
}
constexpr double kNowhere = -1.0;  // a regret of 10

}  // namespace

// 5 GPUs are wanted, there are 4. Out stays the largest ln(hours) + ln(gang): D with ln 16.02, before C with
// ln 8.03. A and B lose most by slow (ln 4, ln 2; each of C's members ln 2 / 2): they get fast, C gets slow.
// Prices f and s that keep it so, with out(X) = 1000 - ln(hours + 1 / 60) - ln gang:
//   D stays out              f, s >= out(D)
//   B stays on fast          f <= s + ln 2            (A: s + ln 4)
//   C stays on slow          s <= f - ln 2 / 2
//   C, B, A stay in          s + ln 2 / 2 <= out(C),  f <= out(B) = out(C) + ln 3.98
// Lowest: s = out(D), f = out(D) + ln 2 / 2. Highest: s = out(C) - ln 2 / 2, f = s + ln 2. The middles are
// 3 / 4 ln 2 apart: the price of fast; slow's is 0. Ln slowness + gang x price on fast and slow, in ln 2:
//   A 3/4, 2    B 3/4, 1    C 3/2, 1    D 3/4, 0
// Rank, in GPUs of 4: A 1, B 2, C 4, D 5. Keener on fast, by ln slowness there less the mean: A -ln 2, B and
// C -ln 2 / 2 (B comes first), D 0: 1, 2, 4, 5 of 2 GPUs; on slow the other way round, B first again: D 1,
// B 2, C 4, A 5.
TEST_CASE("ObservationV3: an empty cluster by hand, preemptive or not", "[mdp]") {
  const bool preemptive = GENERATE(true, false);
  Simulator sim = Four();
  REQUIRE(sim.AdvanceToDecision());
  const test::Shown shown(sim, Mdp(preemptive));
  CHECK(shown.Type(0, "price") == Approx(0.75 * kLn2));
  CHECK(shown.Type(1, "price") == 0.0F);
  CHECK(shown.Global("load") == Approx(std::log(5.0 / 4.0)));
  CheckRow(shown, 0, {1, 0.25, 0.75, {0, 1.25}, {0.5, 2.5}, {1, 0}});
  CheckRow(shown, 1, {2, 0.5, 0.75, {0, 0.25}, {1.0, 1.0}, {1, 0}});
  CheckRow(shown, 2, {4, 1.0, 1.0, {0.5, 0}, {2.0, 2.0}, {0, 1}});
  CheckRow(shown, 3, {16, 1.25, 0.0, {0.75, 0}, {2.5, 0.5}, {0, 0}});
  const double slowness[] = {2.0, 1.0, 1.0, 0.0};  // on slow, in ln 2
  for (int row = 0; row < 4; ++row) {
    CHECK(shown.Pair(row, 0, "slowness") == 0.0F);
    CHECK(shown.Pair(row, 1, "slowness") == Approx(slowness[row] * kLn2).margin(1e-9));
  }
  for (int row = 0; row < 4; ++row) {
    CHECK(shown.Job(row, "members") == Approx(row == 2 ? kLn2 : 0.0).margin(1e-9));
    CHECK(shown.Job(row, "waited") == 0.0F);
  }
  for (const char* name : {"size", "rank", "surplus", "members", "waited", "size_1"}) {
    CHECK(shown.Job(4, name) == 0.0F);  // absent
  }
  for (const char* name : {"regret", "slowness", "keener", "matched"}) CHECK(shown.Pair(4, 1, name) == 0.0F);
}

// A gang G of 2 that loses ln 2 on slow and two single jobs that lose 3/4 ln 2 each, on 2 fast and 2 slow
// GPUs. Job by job G loses less than both others together (1 < 3/2): it gets slow, and fast's price is
// between what keeps G there (1/2 a GPU) and what A and B would pay (3/4). GPU by GPU it would lose more (2 >
// 3/2) and gets fast, at a price between 3/4 and 1. Nobody is out, so nothing bounds prices from above: the
// lowest count. Ln slowness + what is paid, on fast and slow, in ln 2:
//   by job, the price 1/2: G 1, 1    A, B 1/2, 3/4        by GPU, 3/4: G 3/4, 1    A, B 3/4, 3/4
TEST_CASE("ObservationV3: gangs weighed as one job and as many GPUs by hand", "[mdp]") {
  const double slow = std::exp2(-0.75);
  Simulator sim(test::Tiny({{"v100", 2}, {"k80", 2}}, {{1.0, 0.5}, {1.0, slow}},
                           {{0.0, 3600.0, 0, 2}, {0.0, 7260.0, 1, 1}, {0.0, 7260.0, 1, 1}}));
  REQUIRE(sim.AdvanceToDecision());
  const test::Shown shown(sim, Mdp());
  CHECK(shown.Type(0, "price") == Approx(0.5 * kLn2));
  CHECK(shown.Type(0, "price_gpu") == Approx(0.75 * kLn2));
  const double surplus[] = {1.0, 0.5, 0.5}, surplus_gpu[] = {0.75, 0.75, 0.75};
  const double regret[][2] = {{0, 0}, {0, 0.25}, {0, 0.25}};
  const double regret_gpu[][2] = {{0, 0.25}, {0, 0}, {0, 0}};
  for (int row = 0; row < 3; ++row) {
    CAPTURE(row);
    CHECK(shown.Job(row, "surplus") == Approx(surplus[row] * kLn2));
    CHECK(shown.Job(row, "surplus_gpu") == Approx(surplus_gpu[row] * kLn2));
    for (int type : {0, 1}) {
      CHECK(shown.Pair(row, type, "regret") == Approx(regret[row][type] * kLn2).margin(1e-9));
      CHECK(shown.Pair(row, type, "regret_gpu") == Approx(regret_gpu[row][type] * kLn2).margin(1e-9));
      const double matched = (row == 0) == (type == 1) ? 1.0 : 0.0;
      CHECK(shown.Pair(row, type, "matched") == matched);
      CHECK(shown.Pair(row, type, "matched_gpu") == 1.0 - matched);
    }
  }
}

// C runs on slow. A preemptive policy sees what it saw: C could be moved. To the other one A, B and D remain,
// for 2 GPUs of fast alone: D stays out, and what nobody can have has no say in prices. Rank: A 1, B 2, D 3
// of 2 GPUs; keener on fast the same; on slow D, B, A, over 1, as there is no GPU.
TEST_CASE("ObservationV3: beside a running gang by hand", "[mdp]") {
  Simulator sim = Four();
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(2, 1);
  REQUIRE(sim.Apply(decision).ok());
  {
    const test::Shown shown(sim, Mdp(/*preemptive=*/true));
    CHECK(shown.Type(0, "price") == Approx(0.75 * kLn2));
    CHECK(shown.Global("load") == Approx(std::log(5.0 / 4.0)));
    CheckRow(shown, 2, {4, 1.0, 1.0, {0.5, 0}, {2.0, 2.0}, {0, 1}});
  }
  const test::Shown shown(sim, Mdp(/*preemptive=*/false));
  CHECK(shown.Type(0, "price") == 0.0F);
  CHECK(shown.Type(1, "price") == 0.0F);
  CHECK(shown.Global("load") == Approx(std::log(3.0 / 2.0)));
  CheckRow(shown, 0, {1, 0.5, 0.0, {0, kNowhere}, {0.5, 3.0}, {1, 0}});
  CheckRow(shown, 1, {2, 1.0, 0.0, {0, kNowhere}, {1.0, 2.0}, {1, 0}});
  CheckRow(shown, 2, {16, 1.5, 0.0, {0, kNowhere}, {1.5, 1.0}, {0, 0}});  // D
}

// Who may not see sizes goes by what jobs have attained: after an hour of B on fast that hour, and nothing of
// the others. B is out then; A and one member of C get fast, D and the other member slow. C is on both, so
// f = s + ln 2 / 2. On fast and slow, in ln 2: A 1/2, 2    B 1/2, 1    C 1, 1    D 1/2, 0. Rank: A 1, C 3, D
// 4 (all equal: as they came), B 5. Keener is as before. Who may not even see that has all sizes alike.
TEST_CASE("ObservationV3: blind by hand", "[mdp]") {
  Simulator sim = Four();
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(1, 0);
  decision.wake_at = 3600.0;
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 3600.0);
  const test::Shown shown(sim, Mdp(true, Knowledge::kBlind));
  CHECK(shown.Type(0, "price") == Approx(0.5 * kLn2));
  CHECK(shown.Type(1, "price") == 0.0F);
  CheckRow(shown, 0, {0, 0.25, 0.5, {0, 1.5}, {0.5, 2.5}, {1, 0}});
  CheckRow(shown, 1, {1, 1.25, 0.5, {0, 0.5}, {1.0, 1.0}, {0, 0}});
  CheckRow(shown, 2, {0, 0.75, 1.0, {0, 0}, {2.0, 2.0}, {0.5, 0.5}});
  CheckRow(shown, 3, {0, 1.0, 0.0, {0.5, 0}, {2.5, 0.5}, {0, 1}});
  const test::Shown none(sim, Mdp(true, Knowledge::kNone));
  for (int row = 0; row < 4; ++row) CHECK(none.Job(row, "size") == Approx(std::log(1.0 / 60.0)));
}

// Both fast GPUs are out of service from 5 to 25. Four jobs want the 2 slow ones, the last of them in a gang.
// What is out of service has no say in prices and nobody belongs there, however fast he would be. The third
// job cannot run on fast at all.
TEST_CASE("ObservationV3: a type with no GPU in service by hand", "[mdp]") {
  ScenarioData data = test::TinyData({{"v100", 2}, {"k80", 2}}, {{4.0, 1.0}, {0.0, 1.0}, {2.0, 1.0}},
                                     {{0, 1e5, 0}, {0, 1e5, 2}, {0, 1e5, 1}, {0, 1e5, 2, 2}});
  data.features = ParseFeatures("failures(mtbf_h=0,events=5:25:gpu:v100/0|5:25:gpu:v100/1)");
  Simulator sim{Scenario(data)};
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.wake_at = 6.0;
  REQUIRE(sim.Apply(decision).ok());
  while (sim.now() < 5.0) {
    REQUIRE(sim.AdvanceToDecision());
    if (sim.now() < 5.0) REQUIRE(sim.Apply(decision).ok());
  }
  REQUIRE(sim.View(Knowledge::kOracle).types()[0].count == 0);
  for (const bool preemptive : {true, false}) {
    const test::Shown shown(sim, Mdp(preemptive));
    for (int type : {0, 1}) CHECK(shown.Type(type, "price") == 0.0F);
    CHECK(shown.Global("load") == Approx(std::log(5.0 / 2.0)));
    const double slowness[] = {2.0, 1.0, 0.0, 1.0};  // on slow, in ln 2
    for (int row = 0; row < 4; ++row) {
      CAPTURE(row);
      CHECK(shown.Pair(row, 0, "regret") == 10.0F);
      CHECK(shown.Pair(row, 1, "regret") == 0.0F);
      CHECK(shown.Pair(row, 0, "slowness") == (row == 2 ? 5.0F : 0.0F));
      CHECK(shown.Job(row, "surplus") == Approx(slowness[row] * kLn2).margin(1e-9));
    }
  }
}

// The same four jobs in another order of arrival: the same rows in that order. B and C are alike in keenness,
// where the first comes first; all else is as without the order.
TEST_CASE("ObservationV3: jobs in another order are rows in another order", "[mdp]") {
  const std::vector<test::TinyJob> jobs = {{0.0, 14400.0, 0, 1},
                                           {0.0, 14400.0, 1, 1},
                                           {0.0, 28800.0, 1, 2},
                                           {0.0, 57600.0, 2, 1},
                                           {0.0, 7200.0, 2, 4}};
  const std::vector<int> turn = {3, 1, 4, 0, 2};  // B before C both times
  std::vector<test::TinyJob> turned;
  for (int job : turn) turned.push_back(jobs[U(job)]);
  const auto simulator = [](const std::vector<test::TinyJob>& list) {
    Simulator sim(test::Tiny({{"v100", 4}, {"k80", 4}}, {{4.0, 1.0}, {2.0, 1.0}, {1.0, 3.0}}, list));
    REQUIRE(sim.AdvanceToDecision());
    return sim;
  };
  const Simulator first = simulator(jobs), second = simulator(turned);
  const test::Shown one(first, Mdp()), other(second, Mdp());
  for (int type : {0, 1}) CHECK(one.Type(type, "price") == Approx(other.Type(type, "price")).margin(1e-9));
  CHECK(one.Type(0, "price") + one.Type(1, "price") > 0.0F);
  CHECK(one.Global("load") == other.Global("load"));
  for (int row = 0; row < 5; ++row) {
    const int was = turn[U(row)];
    CAPTURE(row, was);
    for (const char* name : {"size", "rank", "surplus", "members", "waited"})
      CHECK(other.Job(row, name) == Approx(one.Job(was, name)).margin(1e-9));
    for (int type : {0, 1}) {
      for (const char* name : {"regret", "slowness", "keener"})
        CHECK(other.Pair(row, type, name) == Approx(one.Pair(was, type, name)).margin(1e-9));
    }
  }
}

}  // namespace berth
