// ObservationV2's channels of latency, partitions and checkpoints, by hand; forecasts: forecast_feature_test.
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/shown.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

test::Shown Shown(const Simulator& sim) {
  MdpSpec mdp;
  mdp.encoder = "ObservationV2";
  mdp.visible = 4;
  return test::Shown(sim, mdp);
}

float Minutes(double seconds) {
  return static_cast<float>(Log(1.0 + seconds / 60.0) / 10.0);
}

}  // namespace

// As tests/latency_test.cpp: 2 starts are decided at 0 for 10, a GPU fails at 5, one start is overtaken. At
// 25 the GPU is back and the scheduler is asked: the decision in effect was made at 10, when there was no
// room (nothing of it was overtaken); asked at 10 itself it was made at 0, and of 2 entries 1 was.
TEST_CASE("ObservationV2: latency, age and what was overtaken, by hand", "[mdp]") {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 200}, {0, 200}});
  data.features = ParseFeatures("latency(seconds=10);failures(mtbf_h=0,events=5:25:gpu:v100/0)");
  Simulator sim{Scenario(data)};
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  {
    const test::Shown shown = Shown(sim);
    CHECK(shown.Global("latency") == Minutes(10.0));
    CHECK(shown.Global("decision_age") == 0.0F);  // none was made yet
    CHECK(shown.Global("overtaken") == 0.0F);
  }
  decision.Start(0, 0), decision.Start(1, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 10.0);
  CHECK(Shown(sim).Global("decision_age") == Minutes(10.0));
  CHECK(Shown(sim).Global("overtaken") == 0.5F);
  decision.Clear();
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 25.0);
  CHECK(Shown(sim).Global("decision_age") == Minutes(15.0));
  CHECK(Shown(sim).Global("overtaken") == 0.0F);
}

// State of 4 GB at 1 GB/s: 4 s to save, 4 s to load. Saved after 100 s of progress, at 100-104; at 150, when
// the second job comes, 46 s are not safe. The second job does not run: nothing to lose.
TEST_CASE("ObservationV2: unsaved work and what saving takes, by hand", "[mdp]") {
  ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 1000}, {150, 10}});
  data.features = ParseFeatures("checkpoints(gb=4,interval=100)");
  Simulator sim{Scenario(data)};
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 150.0);
  const test::Shown shown = Shown(sim);
  CHECK(shown.Job(0, "unsaved") == Approx(Minutes(46.0)));
  CHECK(shown.Job(0, "saving") == Approx(Minutes(8.0)));
  CHECK(shown.Job(1, "unsaved") == 0.0F);
  CHECK(shown.Job(1, "saving") == Approx(Minutes(8.0)));
}

// Four A100: one in 3g+3g from its start... all are whole at first. GPU 0 goes to a layout with two slices of
// 3g.40gb (5 s), GPU 1 stays, GPU 2 has a job and waits to change.
TEST_CASE("ObservationV2: layouts of partitioned GPUs and their changes, by hand", "[mdp]") {
  ScenarioData data = test::TinyData({{"a100", 4}}, {{1.0}}, {{0, 100}, {7, 100}});
  data.cluster.types[0].memory_gb = 80.0;
  data.features = ParseFeatures("partitions(reconfig_s=5)");
  Simulator sim{Scenario(data)};
  REQUIRE(sim.AdvanceToDecision());
  CHECK(Shown(sim).Type(0, "sliced") == 0.0F);
  const PartitionGroup& group = sim.state().features.Find<PartitionState>()->groups[0];
  int layout = -1, profile = -1;
  for (int l = 0; l < static_cast<int>(group.layouts.size()); ++l) {
    if (ToString(*group.product, group.layouts[U(l)]) == "3g.40gb@0+3g.40gb@4") layout = l;
  }
  REQUIRE(layout >= 0);
  profile = group.layouts[U(layout)][0].profile;
  Decision decision;
  const std::vector<int> on = {2};
  decision.Start(0, 0, on);
  REQUIRE(sim.Apply(decision).ok());
  // Nothing decides until 7, but what is decided in the meantime is seen then: do it at once.
  decision.Clear();
  decision.controls = {{kPartitionControl, 0, static_cast<double>(layout)},
                       {kPartitionControl, 2, static_cast<double>(layout)}};
  REQUIRE(sim.Apply(decision).ok());
  {
    const test::Shown shown = Shown(sim);  // GPU 0 changes, GPU 2 waits for its job
    CHECK(shown.Type(0, "reconfiguring") == 0.5F);
    CHECK(shown.Type(group.slice_type[U(profile)], "reconfiguring") == 0.5F);
  }
  while (sim.AdvanceToDecision() && sim.now() < 7.0) {
    decision.Clear();
    REQUIRE(sim.Apply(decision).ok());
  }
  const test::Shown shown = Shown(sim);  // GPU 0 has its slices since 5
  CHECK(shown.Type(0, "sliced") == 0.25F);
  CHECK(shown.Type(0, "reconfiguring") == 0.25F);
  CHECK(shown.Type(group.slice_type[U(profile)], "sliced") == 0.25F);
  CHECK(shown.Type(group.slice_type[U(1 - std::min(profile, 1))], "sliced") == 0.0F);
}

}  // namespace berth
