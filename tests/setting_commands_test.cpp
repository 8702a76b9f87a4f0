// The commands `cap`, `checkpoint`, `offload` and `wait` by hand: what each does, what the simulator refuses, and a
// case in which a policy that may use it does better.
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/power/power.hpp"
#include "env/features/stages/stages.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/command_points.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

MdpSpec Setting(const std::string& actions, bool on_change = false) {
  MdpSpec mdp;
  mdp.actions = ResolveActions(actions);
  mdp.on_change = on_change;
  return mdp;
}

bool MayBe(const DecisionPoint& point, const std::string& name, int subject, int level) {
  return point.mask().bytes()[U(test::CommandAt(point, name, subject, level))] != 0;
}

void Put(DecisionPoint& point, const ClusterView& view, const std::string& name, int subject, int level) {
  REQUIRE(MayBe(point, name, subject, level));
  point.Put(view, test::CommandAt(point, name, subject, level));
}

void ApplyPoint(DecisionPoint& point, Simulator& sim) {
  Decision decision;
  point.Close(sim.View(Knowledge::kOracle), decision);
  const ApplyResult result = sim.Apply(decision);
  INFO(Explain(result, decision, sim));
  REQUIRE(result.ok());
  REQUIRE(CheckInvariants(sim) == "");
}

bool Accepts(Simulator& sim, ControlKind kind, int index, double value) {
  Decision decision;
  decision.controls.push_back({kind, index, value});
  return sim.Validate(decision).ok();
}

// Nodes of one GPU that draws 50 W idle and 250 W at peak; jobs of type 0 are bound by the clock, of type 1 not.
Scenario Priced(const std::string& more, const std::vector<test::TinyJob>& jobs) {
  ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}, {1.0}}, jobs);
  data.cluster.types[0].idle_power_w = 50.0;
  data.cluster.types[0].peak_power_w = 250.0;
  data.features = ParseFeatures("power(clocks=0.5:1,exponent=2,sensitivity=1:0" + more + ")");
  return Scenario(std::move(data));
}

}  // namespace

// At half the clock a busy GPU draws 50 + 200 / 4 = 100 W. Under 0.55 x 250 = 137.5 W job 1 runs as fast as ever,
// and 100 s cost 10 kJ in place of 25; job 0 would take 200 s.
TEST_CASE("cap: one node draws less, and the other goes on as it was") {
  const auto run = [](int capped, double& joules) {
    Simulator sim(Priced("", {{0, 100, 0}, {0, 100, 1}}));
    DecisionPoint point(Setting("start,cap"));
    point.Begin(sim.View(Knowledge::kOracle));
    while (sim.AdvanceToDecision()) {
      const ClusterView view = sim.View(Knowledge::kOracle);
      test::OpenPoint(point, view);
      for (int job : view.active()) Put(point, view, "start", job, -1);
      if (sim.now() == 0.0 && capped >= 0) {
        CHECK_FALSE(MayBe(point, "cap", capped, 0));  // as it is
        Put(point, view, "cap", capped, 3);
        CHECK_FALSE(MayBe(point, "cap", capped, 2));
      }
      ApplyPoint(point, sim);
    }
    joules = EnergyJ(*sim.View(Knowledge::kOracle).Find<PowerState>(), 100.0);
    return std::vector<double>{sim.state().completion[0], sim.state().completion[1]};
  };
  double joules = 0.0;
  CHECK(run(-1, joules) == std::vector<double>{100.0, 100.0});
  CHECK(joules == Approx(50000.0));
  CHECK(run(1, joules) == std::vector<double>{100.0, 100.0});
  CHECK(joules == Approx(35000.0));
  CHECK(run(0, joules) == std::vector<double>{200.0, 100.0});
}

TEST_CASE("cap: nobody is allowed more than the settings say, and what binds is shown") {
  Simulator sim(Priced(",node_cap_w=150", {{0, 100, 0}}));
  REQUIRE(sim.AdvanceToDecision());
  DecisionPoint point(Setting("start,cap"));
  const ClusterView view = sim.View(Knowledge::kOracle);
  point.Begin(view);
  test::OpenPoint(point, view);
  for (int level : {0, 1, 2}) CHECK_FALSE(MayBe(point, "cap", 0, level));  // 150, 212.5 and 175 W
  Put(point, view, "start", 0, -1);
  Put(point, view, "cap", 0, 3);
  ApplyPoint(point, sim);
  CHECK(view.Find<PowerState>()->node_cap_w == std::vector<double>{137.5, 150.0});
  test::OpenPoint(point, view);
  CHECK(MayBe(point, "cap", 0, 0));
  const ObservationLayout& layout = point.layout();
  const int action = test::CommandAt(point, "cap", 0, 0);
  const auto cell = point.observation().subspan(U(layout.pairs_offset() + action * layout.pair_channels),
                                                U(layout.pair_channels));
  CHECK(cell[cell.size() - 3] == 0.0F);  // not as now
  CHECK(cell[cell.size() - 2] == 0.5F);  // half the clock under 150 W too
  CHECK(cell[cell.size() - 1] == 0.0F);
}

// 5 s to save and 5 to load. The GPU goes from 60 to 70, told at 50. Saved 50 to 55, five steps are lost, and the
// job goes on at 70 + 5 with 50 to do; else it begins anew at 70.
TEST_CASE("checkpoint: a job that saves before its GPU is reclaimed goes on from there") {
  const auto run = [](bool saves) {
    ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 100}});
    data.features = ParseFeatures("checkpoints(gb=5);failures(mtbf_h=0,events=60:70:gpu:v100/0:10)");
    Simulator sim{Scenario(std::move(data))};
    DecisionPoint point(Setting("start,checkpoint"));
    point.Begin(sim.View(Knowledge::kOracle));
    while (sim.AdvanceToDecision()) {
      const ClusterView view = sim.View(Knowledge::kOracle);
      test::OpenPoint(point, view);
      CHECK(MayBe(point, "checkpoint", 0, 0) == (sim.now() == 50.0));
      if (MayBe(point, "start", 0, -1)) Put(point, view, "start", 0, -1);
      if (saves && sim.now() == 50.0) {
        Put(point, view, "checkpoint", 0, 0);
        CHECK_FALSE(MayBe(point, "checkpoint", 0, 0));
      }
      ApplyPoint(point, sim);
    }
    return sim.state().completion[0];
  };
  CHECK(run(false) == 170.0);
  CHECK(run(true) == 125.0);
}

// Every 30 s of progress, 5 s each: ordered at 20, safe at 25, then 55 to 60 and 90 to 95; 100 s of work end at 115.
TEST_CASE("checkpoint: the next periodic one is an interval after one that was ordered") {
  for (const char* clock : {"event", "rounds(20)"}) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {0, 10}}, Clock::Parse(clock));
    data.features = ParseFeatures("checkpoints(gb=5,interval=30)");
    Simulator sim{Scenario(std::move(data))};
    REQUIRE(sim.AdvanceToDecision());
    const CheckpointState& state = *sim.View(Knowledge::kOracle).Find<CheckpointState>();
    CHECK_FALSE(Accepts(sim, kSaveControl, 0, 1.0));  // it waits
    Decision decision;
    decision.Start(0, 0), decision.wake_at = 20.0;
    REQUIRE(sim.Apply(decision).ok());
    CHECK_FALSE(Accepts(sim, kSaveControl, 0, 1.0));  // nothing to save
    REQUIRE(sim.AdvanceToDecision());
    REQUIRE(sim.now() == 20.0);
    CHECK(Accepts(sim, kSaveControl, 0, 1.0));
    CHECK_FALSE(Accepts(sim, kSaveControl, 0, 2.0));
    CHECK_FALSE(Accepts(sim, kSaveControl, 2, 1.0));
    decision.Clear();
    decision.Stop(0), decision.controls.push_back({kSaveControl, 0, 1.0});
    CHECK_FALSE(sim.Validate(decision).ok());  // a stop saves by itself
    decision.Clear();
    decision.controls.push_back({kSaveControl, 0, 1.0});
    REQUIRE(sim.Apply(decision).ok());
    CHECK((state.Saves(0, 24.0) && !state.Saves(0, 25.0)));
    CHECK_FALSE(Accepts(sim, kSaveControl, 0, 1.0));  // it saves
    decision.Clear();
    while (sim.state().completion[0] == kNever && sim.AdvanceToDecision()) REQUIRE(sim.Apply(decision).ok());
    CHECK(sim.state().completion[0] == 115.0);
    CHECK(state.saves == 3);
  }
}

// Preprocessing takes 16 core-seconds on 8 cores, 2 s a step beside 1 s on the GPU, or 1 s on the GPU: with the best
// third there a step takes 4/3 s. 100 steps: 200 s, 133.3 s, and set half-way 100 + 66.7.
TEST_CASE("offload: a job is as fast as the part of its preprocessing that is where it should be") {
  const auto run = [](double set_at) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}});
    data.features = ParseFeatures("stages(cpu_core_s=16,gpu_prep_s=1,transfer_s=0.5)");
    Simulator sim{Scenario(std::move(data))};
    DecisionPoint point(Setting("start,offload"));
    point.Begin(sim.View(Knowledge::kOracle));
    while (sim.AdvanceToDecision()) {
      const ClusterView view = sim.View(Knowledge::kOracle);
      test::OpenPoint(point, view);
      Put(point, view, "start", 0, -1);
      if (sim.now() == set_at) {
        CHECK_FALSE(MayBe(point, "offload", 0, 0));  // as it is
        Put(point, view, "offload", 0, 3);
        CHECK_FALSE(MayBe(point, "offload", 0, 1));
      }
      Decision decision;
      point.Close(view, decision);
      decision.wake_at = 100.0;
      REQUIRE(sim.Apply(decision).ok());
    }
    return sim.state().completion[0];
  };
  CHECK(run(-1.0) == Approx(200.0));
  CHECK(run(0.0) == Approx(400.0 / 3.0));
  CHECK(run(100.0) == Approx(100.0 + 200.0 / 3.0));
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {9, 100}});
  data.features = ParseFeatures("stages");
  Simulator sim{Scenario(std::move(data))};
  REQUIRE(sim.AdvanceToDecision());
  CHECK(Accepts(sim, kOffloadControl, 0, 0.25));
  CHECK(Accepts(sim, kOffloadControl, 0, -1.0));
  CHECK_FALSE(Accepts(sim, kOffloadControl, 0, -0.5));
  CHECK_FALSE(Accepts(sim, kOffloadControl, 0, 1.5));
  CHECK_FALSE(Accepts(sim, kOffloadControl, 1, 0.25));  // it is to come
  CHECK_FALSE(Accepts(sim, kOffloadControl, 2, 0.25));
  DecisionPoint point(Setting("start,offload"));
  point.Begin(sim.View(Knowledge::kOracle));
  test::OpenPoint(point, sim.View(Knowledge::kOracle));
  CHECK_FALSE(MayBe(point, "offload", 0, 3));  // it has nothing to do on cores
}

// 7,200 s of work at half the clock while an hour is dear, and at the full one after it: 1,800 of it by 3,600, the
// rest by 9,000. Who cannot ask to be asked stays at half: 14,400.
TEST_CASE("wait: a policy sees the hour change though nothing happens then") {
  const auto run = [](bool waits, int& points) {
    Simulator sim(Priced(",electricity_price=1:0", {{0, 7200, 0}}));
    DecisionPoint point(Setting("start,clock,wait", /*on_change=*/true));
    point.Begin(sim.View(Knowledge::kOracle));
    for (points = 0; sim.AdvanceToDecision();) {
      const ClusterView view = sim.View(Knowledge::kOracle);
      if (point.PassesOver(view)) {
        REQUIRE(sim.Apply({}).ok());
        continue;
      }
      ++points;
      test::OpenPoint(point, view);
      CHECK_FALSE(point.OfferDone(/*event_follows=*/true));  // not while the job could run
      if (waits) Put(point, view, "wait", 0, 2);
      CHECK_FALSE(point.OfferDone(true));
      Put(point, view, "start", 0, -1);
      CHECK(point.OfferDone(true));
      const int level = view.now() < 3600.0 || view.now() >= 7200.0 ? 0 : 1;
      if (MayBe(point, "clock", 0, level) && view.now() < 7200.0) Put(point, view, "clock", 0, level);
      CHECK(point.PassesOver(view) == false);  // as long as it is not closed
      ApplyPoint(point, sim);
    }
    return sim.state().completion[0];
  };
  int points = 0;
  CHECK(run(false, points) == 14400.0);
  CHECK(points == 1);
  CHECK(run(true, points) == 9000.0);
  CHECK(points == 3);  // 0, 3,600 and 7,200
}

TEST_CASE("wait: a time that a run's end precedes is shown as such, to who knows run times") {
  // At 100 s the run has 500 s to go: beyond five minutes, within the hour.
  for (const Knowledge knowledge : {Knowledge::kOracle, Knowledge::kBlind}) {
    Simulator sim{Scenario(test::TinyData({{"a", 1}}, {{1.0}}, {{0, 600}, {100, 600}}))};
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, 0);
    REQUIRE(sim.Apply(decision).ok());
    REQUIRE(sim.AdvanceToDecision());
    REQUIRE(sim.now() == 100.0);
    MdpSpec mdp = Setting("start,wait");
    mdp.knowledge = knowledge;
    DecisionPoint point(mdp);
    const ClusterView view = sim.View(knowledge);
    point.Begin(view);
    test::OpenPoint(point, view);
    const ObservationLayout layout = point.layout();
    for (const int level : {0, 1}) {
      const int cell = test::CommandAt(point, "wait", 0, level);
      const int late = layout.pairs_offset() + (cell + 1) * layout.pair_channels - 1;  // no other kind has channels
      CHECK(point.observation()[U(late)] == (knowledge == Knowledge::kOracle && level == 1 ? 1.0F : 0.0F));
    }
  }
}

TEST_CASE("wait: with rounds the next boundary is decided, and where nothing runs the first one not too early") {
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 1000}}, Clock::Parse("rounds(360)"));
  data.features = ParseFeatures("power");
  for (const bool runs : {true, false}) {
    for (const bool waits : {true, false}) {
      if (!runs && !waits) continue;  // nothing would follow
      Simulator sim{Scenario(data)};
      DecisionPoint point(Setting("start,wait", /*on_change=*/true));
      point.Begin(sim.View(Knowledge::kOracle));
      REQUIRE(sim.AdvanceToDecision());
      ClusterView view = sim.View(Knowledge::kOracle);
      REQUIRE_FALSE(point.PassesOver(view));
      test::OpenPoint(point, view);
      if (runs) Put(point, view, "start", 0, -1);
      if (waits) Put(point, view, "wait", 0, 1);
      ApplyPoint(point, sim);
      REQUIRE(sim.AdvanceToDecision());
      CHECK(sim.now() == (runs ? 360.0 : 3600.0));
      CHECK(point.PassesOver(sim.View(Knowledge::kOracle)) == !waits);
    }
  }
}

}  // namespace berth
