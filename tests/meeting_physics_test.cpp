// What GPUs do where features meet, by hand: what is promised beside replicas, what clocks leave alone, what
// loads a GPU, what comes with a part of one; and that whoever names devices looks at their nodes.
#include "baselines/schedulers.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/table.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/metrics.hpp"
#include "tests/a100s.hpp"
#include "tests/audit.hpp"

namespace berth {
namespace {

using test::A100s;
using test::Finish;
using test::Says;

// GPUs of 50 W idle and 250 W at peak; 1 step/s.
ScenarioData V100s(int gpus, const std::vector<test::TinyJob>& jobs, const std::string& features) {
  ScenarioData data = test::TinyData({{"v100", gpus}}, {{1.0}}, jobs);
  GpuType& type = data.cluster.types[0];
  type.idle_power_w = 50.0, type.peak_power_w = 250.0;
  data.features = ParseFeatures(features);
  return data;
}

ScenarioData Parts(ScenarioData data, const std::vector<int>& milli, const std::vector<Qos>& classes) {
  data.jobs.gpu_milli = milli;
  for (Qos qos : classes) data.jobs.qos.push_back(static_cast<int>(qos));
  return data;
}

double Joules(const Simulator& sim) {
  return Measure(sim, {}).energy_kwh * 3.6e6;
}

void SlowClocks(const Simulator& sim, Decision& d) {
  for (int device = 0;
       sim.state().features.Find<PowerState>() && sim.now() == 0.0 && device < sim.scenario().num_gpus();
       ++device)
    d.controls.push_back({kClockControl, device, 0.0});
}

}  // namespace

// Guaranteed 3/4 of a GPU: 75 steps in 100 s, with a replica of half a GPU in the cluster or without. With
// one GPU that one waits; with two it goes to the other. A burstable quarter beside it has 1/4 and the 1/4
// that is left: 50 steps in 100 s. A whole job is promised nothing: 50 steps in 100 s.
TEST_CASE("services: replicas leave what is promised", "[features]") {
  for (const char* services : {"", ";services(rate_per_s=0.001,share=0.5)"}) {
    CAPTURE(services);
    const Simulator one =
        Finish(Parts(V100s(1, {{0, 75}}, Join("sharing", services)), {750}, {Qos::kGuaranteed}));
    CHECK(one.state().completion[0] == Approx(100.0));
  }
  const std::string both = "sharing;services(rate_per_s=0.001,share=0.5)";
  Simulator two{Scenario(Parts(V100s(2, {{0, 75}}, both), {750}, {Qos::kGuaranteed}))};
  REQUIRE(two.AdvanceToDecision());
  REQUIRE(two.state().features.Find<ServiceState>()->replica_of == std::vector<int>{0, -1});
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(two.Apply(decision).ok());
  CHECK(two.state().features.Find<ServiceState>()->replica_of == std::vector<int>{-1, 0});
  CHECK(CheckInvariants(two) == "");
  const Simulator burst = Finish(Parts(V100s(1, {{0, 50}}, both), {250}, {Qos::kBurstable}));
  CHECK(burst.state().completion[0] == Approx(100.0));
  const Simulator whole = Finish(Parts(V100s(1, {{0, 50}}, both), {1000}, {Qos::kGuaranteed}));
  CHECK(whole.state().completion[0] == Approx(100.0));
}

// A deliberate bug: the replica is where 3/4 are promised. It is seen with any other feature on.
TEST_CASE("sharing: the invariant sees a promise that cannot be kept", "[features]") {
  const std::string all =
      "sharing;services(rate_per_s=0.001,share=0.5);power;stages(cpu_core_s=1);elasticity";
  Simulator sim{Scenario(Parts(V100s(2, {{0, 75}}, all), {750}, {Qos::kGuaranteed}))};
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  test::Frame frame(sim);
  CHECK(CheckInvariants(frame.Invariant(sim.scenario())) == "");
  frame.state.features.Find<ServiceState>()->replica_of = {0, -1};
  CHECK(Says(CheckInvariants(frame.Invariant(sim.scenario())), "sharing: device 0: 0.75 of it is promised"));
}

// A gang of 2 on two nodes exchanges 1 GB over 1 GB/s: 2 (2 - 1) / 2 = 1 s a step beside 1 s of compute. At
// half the clock, or beside a replica that has half of a GPU, 2 s of compute and the same 1 s.
TEST_CASE("topology: clocks and replicas slow compute, not the network", "[features]") {
  const std::string spread =
      "topology(slowdown=model,node_gb_s=1e8,network_gb_s=1,rack_gb_s=1,gradient_gb=1)";
  const auto seconds = [&](const std::string& other) {
    ScenarioData data = V100s(4, {{0, 100, 0, 2}}, spread + other);
    data.cluster.types[0].gpus_per_node = 2;
    return Finish(data,
                  [](const Simulator& sim, Decision& d) {
                    if (sim.now() > 0.0) return;
                    d.Clear();
                    d.Start(0, 0, std::vector<int>{0, 2});
                    SlowClocks(sim, d);
                  })
        .state()
        .completion[0];
  };
  CHECK(seconds("") == Approx(200.0));
  CHECK(seconds(";power(clocks=0.5:1)") == Approx(300.0));
  CHECK(seconds(";services(rate_per_s=0.001,share=0.5)") == Approx(300.0));
}

// A step of 1 s on the GPU waits for 72 core-seconds on 8 cores: 9 s. The GPU works 1/9 of the time, 50 + 200
// / 9 W: 100 steps take 900 s and 65,000 J. With no overlap 10 s a step and 1/10, 70 W: 1,000 s, 70,000 J.
TEST_CASE("power: a GPU that waits for its cores draws less", "[features]") {
  const std::string starved = "power;stages(cpu_core_s=72,cores_per_gpu=8";
  CHECK(Joules(Finish(V100s(1, {{0, 100}}, starved + ")"))) == Approx(65000.0).epsilon(1e-6));
  CHECK(Joules(Finish(V100s(1, {{0, 100}}, starved + ",overlap=false)"))) == Approx(70000.0).epsilon(1e-6));
}

// A quarter, alone. Best effort and burstable it has the whole GPU: 100 s at 250 W. Guaranteed a quarter of
// it: 400 s at 50 + 200 / 4 = 100 W. Where its share suffices it uses that: 100 s at 100 W. Best effort for
// 25 s of a guaranteed half on its GPU it has the other half: 12.5 steps, and 87.5 s alone after; the GPU
// is full for all of the 112.5 s.
TEST_CASE("power: who shares a GPU loads what he is given of it", "[features]") {
  const auto joules = [](Qos qos, const char* features) {
    return Joules(Finish(Parts(V100s(1, {{0, 100}}, features), {250}, {qos})));
  };
  for (Qos qos : {Qos::kBestEffort, Qos::kBurstable}) CHECK(joules(qos, "power;sharing") == Approx(25000.0));
  CHECK(joules(Qos::kGuaranteed, "power;sharing") == Approx(40000.0));
  CHECK(joules(Qos::kBurstable, "power;sharing(share_suffices=true)") == Approx(10000.0));
  ScenarioData pair = Parts(V100s(1, {{0, 100}, {0, 12.5}}, "power;sharing(interference=0)"), {250, 500},
                            {Qos::kBestEffort, Qos::kGuaranteed});
  const Simulator sim = Finish(pair, [](const Simulator& s, Decision& d) {
    if (s.now() == 0.0) d.Start(1, 0);
  });
  CHECK(sim.state().completion == std::vector<double>{112.5, 25.0});
  CHECK(Joules(sim) == Approx(250.0 * 112.5));
}

// All preprocessing on the GPU, one after the other: 1 s + 1 s a step on a whole one. A seventh of it takes 7
// s for each, 8 GPUs 1/8 s.
TEST_CASE("stages: preprocessing on the GPUs is slower on a slice and faster on more", "[features]") {
  const std::string stages = "stages(cpu_core_s=100,gpu_prep_s=1,offload=1,overlap=false)";
  const std::string sevenths =
      ";partitions(fixed=true,layout=1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb)";
  CHECK(Finish(A100s(1, {{0, 10}}, {1.0}, stages)).now() == Approx(20.0));
  CHECK(Finish(A100s(1, {{0, 10}}, {1.0}, stages + sevenths)).now() == Approx(140.0));
  ScenarioData eight = V100s(8, {{0, 100}}, stages + ";elasticity(max_factor=8,scaling=linear,resize_s=0)");
  eight.throughputs.gang_sizes = {1}, eight.throughputs.alone = {1.0};
  const Simulator wide = Finish(eight, [](const Simulator& s, Decision& d) {
    if (s.now() > 0.0) return;
    d.Clear();
    d.StartAt(0, 0, 8);
  });
  CHECK(wide.now() == Approx(25.0));
}

// 16 core-seconds a step. Alone with 8 cores 2 s, of a pair with 4 each 4 s, more than the 2 s that a step
// takes on half of the GPU.
TEST_CASE("stages: two jobs on a GPU share its cores", "[features]") {
  ScenarioData data = V100s(1, {{0, 10}, {0, 10}}, "stages(cpu_core_s=16,cores_per_gpu=8)");
  data.throughputs.pairs = {0.5, 0.5};
  const Simulator sim = Finish(data, [](const Simulator& s, Decision& d) {
    if (s.now() == 0.0) d.Pack(1, 0);
  });
  CHECK(sim.state().completion == std::vector<double>{40.0, 40.0});
}

// Bins end at 10,000 s: 2 of 100 are beyond them, so the 99th percentile is and the 98th is not. A service
// without replicas answers nobody. One whose replica answers 10 of 100 requests a second for 1,000 s leaves
// 90% of them waiting at the end.
TEST_CASE("services: who is not answered is slow for ever", "[features]") {
  LatencyHistogram histogram;
  histogram.Add(9999.0, 98);
  histogram.Add(10100.0), histogram.Add(kNeverAnswered);
  CHECK(histogram.Quantile(0.98) == Approx(9999.0).epsilon(0.011));
  CHECK(histogram.Quantile(0.99) == kNeverAnswered);
  const auto measure = [](const std::string& service) {
    return Measure(Finish(V100s(2, {{0, 1000}}, "services(base_s=0,item_s=0.1,max_batch=1," + service + ")")),
                   {});
  };
  const Metrics none = measure("rate_per_s=1,replicas=0");
  CHECK(none.Of("service_p50_s") == kNeverAnswered);
  CHECK(none.Of("service_p99_s") == kNeverAnswered);
  CHECK(none.Of("service_attainment") == 0.0);
  const Metrics late = measure("rate_per_s=100,replicas=1");
  CHECK(late.Of("service_p50_s") == kNeverAnswered);
  CHECK(measure("rate_per_s=1,replicas=1").Of("service_p99_s") < 1.0);
}

// Two nodes of 2 GPUs and 4 cores; jobs of 3 cores, so one runs on each node: 4 of 100 steps take 200 s, a
// fifth one more 100 s. With clocks energy_efficient takes 0.7: of those at most 1.5 times slower it has the
// least joules a step, (50 + 350 x 0.7^1.7) / 0.7.
TEST_CASE("schedulers that name devices look at their nodes", "[features]") {
  for (const char* name : {"pools", "mig", "mig_static", "gpu_shares", "coolest_first", "energy_efficient",
                           "pools(inner=gpu_shares)"}) {
    for (const char* other :
         {"", ";power(heat=true)", ";sharing", ";partitions", ";power;sharing;partitions"}) {
      CAPTURE(name, other);
      ScenarioData data = A100s(4, {{0, 100}, {0, 100}, {0, 100}, {0, 100}, {0, 100}}, {1.0},
                                Join("topology(cpus_per_node=4)", other));
      data.cluster.types[0].gpus_per_node = 2;
      data.jobs.demand.assign(5, 3.0);
      const auto scheduler = MakeScheduler(name, std::vector<SchedulerTable>{BaselineSchedulers()});
      const RunResult run = Run(Scenario(data), *scheduler, name, {});
      CHECK(run.metrics.unfinished == 0);
      if (std::string(other).find("partitions") != std::string::npos) continue;
      const bool slow = name == std::string("energy_efficient") && data.features.Find<PowerSettings>();
      CHECK(run.metrics.end_s == Approx(slow ? 300.0 / 0.7 : 300.0));
    }
  }
}

}  // namespace berth
