// Elastic gangs where other features are on: parts of GPUs, slices, cores of nodes, starts that are not yet
// paid for, pools. By hand.
#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"
#include "env/features/table.hpp"
#include "env/predict/releases.hpp"
#include "env/sim/invariants.hpp"
#include "tests/a100s.hpp"
#include "tests/audit.hpp"
#include "tests/runs.hpp"

namespace berth {
namespace {

using test::A100s;
using test::Finish;
using test::Says;

const char* const kElastic[] = {"equal_share", "elastic_srpt", "optimus"};
const std::string kLinear = "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0,max_factor=";

// GPUs of 1 step/s.
ScenarioData V100s(int gpus, const std::vector<test::TinyJob>& jobs, const std::string& features) {
  ScenarioData data = test::TinyData({{"v100", gpus}}, {{1.0}}, jobs);
  data.features = ParseFeatures(features);
  return data;
}

std::vector<double> Completions(const std::string& spec, const ScenarioData& data) {
  const Simulator sim = test::RunAudited(spec, Scenario(data));
  REQUIRE(sim.finished());
  return sim.state().completion;
}

int Halves(const Simulator& sim) {  // the layout 3g.40gb+3g.40gb
  const PartitionGroup& group = sim.state().features.Find<PartitionState>()->groups[0];
  for (int l = 0; l < static_cast<int>(group.layouts.size()); ++l) {
    if (ToString(*group.product, group.layouts[U(l)]) == "3g.40gb@0+3g.40gb@4") return l;
  }
  FAIL("no layout in halves");
  return -1;
}

Control Cut(const Simulator& sim, int gpu) {
  return {kPartitionControl, gpu, static_cast<double>(Halves(sim))};
}

}  // namespace

// Two hold half of one GPU, promised: 100 steps at 1/2 step/s. The third has the GPUs that nobody counts on:
// 2 of the 4, 200 steps at 2 steps/s.
TEST_CASE("elasticity: who holds a part of a GPU holds one, others resize") {
  ScenarioData data = V100s(4, {{0, 100}, {0, 100}, {0, 200}}, "sharing;" + kLinear + "2)");
  data.jobs.gpu_milli = {500, 500, 1000};
  data.jobs.qos = {0, 0, 0};
  const Scenario scenario(data);
  CHECK(scenario.MaxGang(0) == 1);
  CHECK(scenario.RateAt(0, 0, 2) == 0.0);
  CHECK(scenario.MaxGang(2) == 2);
  for (const char* spec : kElastic) {
    CAPTURE(spec);
    CHECK(Completions(spec, data) == std::vector<double>{200.0, 200.0, 100.0});
  }
  // Without the feature sharing the column means nothing.
  data.features = ParseFeatures(kLinear + "2)");
  CHECK(Scenario(data).MaxGang(0) == 2);
}

// 3 nodes of 4 GPUs and 12 cores: of members with 8 cores each holds one, of members with 5 two, so 3 and 6
// are the largest gangs. 300 steps on 3 GPUs, 100 s; then on 6, 50 s.
TEST_CASE("elasticity: no wider than nodes have cores") {
  for (const char* clock : {"event", "rounds(50)"}) {
    for (const double cores : {8.0, 5.0}) {
      ScenarioData data =
          V100s(12, {{0, 300}}, "topology(cpus_per_node=12,slowdown=none);" + kLinear + "12)");
      data.cluster.types[0].gpus_per_node = 4;
      data.jobs.demand = {cores};
      data.clock = Clock::Parse(clock);
      const int most = cores == 8.0 ? 3 : 6;
      const Scenario scenario(data);
      CHECK(scenario.MaxGang(0) == most);
      CHECK(scenario.RateAt(0, 0, most) == Approx(most));
      CHECK(scenario.RateAt(0, 0, most + 1) == 0.0);
      for (const char* spec : kElastic) CHECK(Completions(spec, data)[0] == Approx(300.0 / most));
    }
  }
}

// A job of the whole GPU's speed on one of seven slices: 700 steps at 1/7 step/s, whatever else is idle.
TEST_CASE("elasticity: slices make no gang") {
  const ScenarioData data = A100s(1, {{0, 700}}, {1.0},
                                  "partitions(fixed=true,layout=1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+"
                                  "1g.10gb+1g.10gb);" +
                                      kLinear + "7)");
  const Scenario scenario(data);
  for (int type = 1; type < scenario.num_types(); ++type) CHECK(scenario.RateAt(0, type, 2) == 0.0);
  for (const char* spec : kElastic) CHECK(Completions(spec, data)[0] == Approx(4900.0));
}

// A start takes 1,000 s. At 10 s the job gets a second GPU, which takes 5 s more: 2,000 steps in 1,000 s from
// 1,005 s. Without checkpoints the same holds of what a restart owes: stopped at 100 s and started there,
// 1,900 steps from 400 s; resized at 110 s they take 950 s.
TEST_CASE("elasticity: a resize pays what the start still owes") {
  const std::string five = "elasticity(measured=false,scaling=linear,resize_s=5)";
  const auto resize_at_10 = [](const Simulator& sim, Decision& d) {
    if (sim.now() < 10.0) d.wake_at = 10.0;
    if (sim.now() == 10.0) d.Resize(0, 0, 2);
  };
  CHECK(Finish(V100s(2, {{0, 2000}}, "checkpoints(cold_start_s=1000);" + five), resize_at_10).now() ==
        2005.0);
  ScenarioData data = V100s(2, {{0, 2000}}, kLinear + "2)");
  data.costs.restore_s = 300.0;
  const Simulator restored = Finish(data, [](const Simulator& sim, Decision& d) {
    if (sim.now() < 120.0) d.wake_at = sim.now() < 100.0 ? 100.0 : sim.now() < 110.0 ? 110.0 : 120.0;
    if (sim.now() == 100.0) d.Stop(0);
    if (sim.now() == 120.0) d.Resize(0, 0, 2);
  });
  CHECK(restored.now() == 1360.0);
}

// 10 s to save after every 100 s of progress. At 105 s the save is broken off by a resize: it begins anew and
// ends at 115 s; 180 of 280 steps are left, 90 s on two GPUs.
TEST_CASE("elasticity: a resize breaks off a save, and waits for none") {
  const ScenarioData data =
      V100s(2, {{0, 280}}, kLinear + "2);checkpoints(gb=10,write_gb_s=1,interval=100,cold_start_s=0)");
  const Simulator sim = Finish(data, [](const Simulator& s, Decision& d) {
    if (s.now() < 105.0) d.wake_at = 105.0;
    if (s.now() == 105.0) d.Resize(0, 0, 2);
  });
  CHECK(sim.now() == 205.0);
}

// Four GPUs. A, 400 steps, has all of them to 50 s, then half beside B, of 100 steps, which ends at 100 s;
// A's last 100 steps take 25 s on all.
TEST_CASE("elasticity: schedulers in pools resize too") {
  const ScenarioData data = V100s(4, {{0, 400}, {50, 100}}, kLinear + "4)");
  for (const char* spec : {"pools(inner=equal_share)", "equal_share"}) {
    CAPTURE(spec);
    CHECK(Completions(spec, data) == std::vector<double>{125.0, 100.0});
  }
  for (const char* inner : kElastic) {
    for (const std::string spec : {"pools(inner=", "hierarchical(inner="})
      for (double end : Completions(spec + inner + ")", data)) CHECK(end < kNever);
  }
}

// A gang has both GPUs to 100 s. The second is to be cut meanwhile: it waits, and begins when the gang ends.
TEST_CASE("partitions: a GPU that waited for a gang begins its layout") {
  const ScenarioData data = A100s(2, {{0, 100, 0, 2}, {200, 1}}, {1.0}, "partitions(reconfig_s=5)");
  const Simulator sim = Finish(data, [&](const Simulator& s, Decision& d) {
    const auto& second = s.state().features.Find<PartitionState>()->gpus[1];
    if (s.now() == 0.0) d.wake_at = 50.0;
    if (s.now() == 50.0) d.controls.push_back(Cut(s, 1));
    if (s.now() == 100.0) CHECK(second.reconfiguring);
    if (s.now() >= 105.0) {
      CHECK(second.layout == Halves(s));
      CHECK_FALSE(second.reconfiguring);
    }
  });
  CHECK(sim.state().types[0].count == 1);
  // The invariant sees one that waits for nobody.
  test::Frame frame(sim);
  CHECK(CheckInvariants(frame.Invariant(sim.scenario())) == "");
  frame.state.features.Find<PartitionState>()->gpus[1].target = 0;
  CHECK(Says(CheckInvariants(frame.Invariant(sim.scenario())), "partitions: GPU 1 is idle and waits"));
  frame.state.features.Find<PartitionState>()->gpus[1].target = -1;
  frame.state.features.Find<PartitionState>()->gpus[1].reconfiguring = true;
  frame.state.device_job[0] = frame.state.device_job[1] = 0;
  CHECK(Says(frame.state.features.Find<PartitionState>()->Violation(frame.Invariant(sim.scenario())),
             "GPU 1 changes its layout and is not idle"));
}

// A replica has half of the first GPU, or all of it. Half: the job beside it makes 5 of its 100 steps by 10
// s. Then the GPU is to be cut: the replica goes on at the other one, the job is alone and done at 105 s, and
// the GPU is cut. All: the job has the other GPU until 100 s, so the replica stays until then.
TEST_CASE("partitions: a replica leaves a GPU that is to be cut once it has another") {
  for (const bool half : {true, false}) {
    const ScenarioData data = A100s(
        2, {{0, 100}, {200, 1}}, {1.0},
        Join("partitions(reconfig_s=5);services(rate_per_s=0.01,interval_s=1e5,share=", half ? 0.5 : 1, ")"));
    const double ends = half ? 105.0 : 100.0;
    const Simulator sim = Finish(data, [&](const Simulator& s, Decision& d) {
      const PartitionState::Gpu& first = s.state().features.Find<PartitionState>()->gpus[0];
      CAPTURE(half, s.now());
      if (s.now() < 20.0) d.wake_at = s.now() < 10.0 ? 10.0 : 20.0;
      if (s.now() == 10.0) d.controls.push_back(Cut(s, 0));
      if (s.now() == 20.0) {
        CHECK(s.state().features.Find<ServiceState>()->services[0].devices == std::vector<int>{half ? 1 : 0});
        CHECK(first.target == Halves(s));
      }
      if (s.now() >= ends + 5.0) {
        CHECK(s.state().features.Find<ServiceState>()->services[0].devices == std::vector<int>{1});
        CHECK(first.layout == Halves(s));
        CHECK_FALSE(first.reconfiguring);
      }
    });
    CHECK(sim.state().completion[0] == ends);
  }
}

// With one GPU the replica has nowhere to go: the cut waits until nobody wants the replica, at 20 s.
TEST_CASE("partitions: a GPU is cut when its replica is not wanted any more") {
  const ScenarioData data =
      A100s(1, {{0, 1}, {50, 1}}, {1.0},
            "partitions(reconfig_s=5);services(rate_per_s=0.01,interval_s=1e5,share=0.5)");
  int seen = 0;
  Finish(data, [&](const Simulator& s, Decision& d) {
    const PartitionState::Gpu& gpu = s.state().features.Find<PartitionState>()->gpus[0];
    if (s.now() < 20.0) d.wake_at = s.now() < 10.0 ? 10.0 : 20.0;
    if (s.now() == 10.0) d.controls.push_back(Cut(s, 0));
    if (s.now() == 20.0) {
      CHECK(s.state().features.Find<ServiceState>()->replica_of[0] == 0);
      CHECK_FALSE(gpu.reconfiguring);
      d.controls.push_back({kReplicasControl, 0, 0.0});
    }
    seen += s.now() == 25.0 && gpu.layout == Halves(s);
  });
  CHECK(seen == 1);
}

// 5 GPUs of which 0, a gang of 2, holds 3 until 800 s, and 1 holds one. The gang of 4 that comes at 100 s can start when 0 ends; 3 would
// still run then, so it starts behind the gang.
TEST_CASE("easy, conservative: who ends gives back what it holds, not its gang") {
  const ScenarioData data = V100s(5, {{0, 1200, 0, 2}, {0, 2000}, {100, 100, 0, 4}, {100, 1500}}, kLinear + "2)");
  for (const char* spec : {"easy", "conservative"}) {
    CAPTURE(spec);
    const std::unique_ptr<Scheduler> rule = test::Make(spec);
    const Simulator fresh{Scenario(data)};
    rule->Reset(fresh.View(Knowledge::kOracle));
    const Simulator sim = Finish(data, [&](const Simulator& s, Decision& d) {
      d.Clear();
      if (s.now() > 0.0) return rule->Decide(s.View(Knowledge::kOracle), d);
      d.StartAt(0, 0, 3);
      d.Start(1, 0);
    });
    CHECK(sim.state().completion == std::vector<double>{800.0, 2000.0, 900.0, 2400.0});
  }
}

// 4 GPUs, of which 0, a gang of 2, holds one: 400 steps at 1/2 step/s, until 800 s, though at 1 step/s it would be done by then at 450.
// The gang of 4 that comes at 100 s can start at 800; who runs from 100 to 600 is not in its way.
TEST_CASE("easy, conservative: who ends is expected when what it holds is done, not its gang") {
  const ScenarioData data = V100s(4, {{0, 400, 0, 2}, {0, 300}, {100, 100, 0, 4}, {100, 500}}, kLinear + "2)");
  for (const char* spec : {"easy", "conservative"}) {
    CAPTURE(spec);
    const std::unique_ptr<Scheduler> rule = test::Make(spec);
    const Simulator fresh{Scenario(data)};
    rule->Reset(fresh.View(Knowledge::kOracle));
    const Simulator sim = Finish(data, [&](const Simulator& s, Decision& d) {
      d.Clear();
      const ClusterView view = s.View(Knowledge::kOracle);
      if (s.now() == 100.0) {
        Releases releases;
        releases.Collect(view, 0, 2, nullptr);
        CHECK(releases.When(4).time == 800.0);
        CHECK(releases.When(4).spare == 0);
      }
      if (s.now() > 0.0) return rule->Decide(view, d);
      d.StartAt(0, 0, 1);
      d.Start(1, 0);
    });
    CHECK(sim.state().completion == std::vector<double>{800.0, 300.0, 900.0, 600.0});
  }
}

}  // namespace berth
