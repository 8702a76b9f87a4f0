// Physics where features meet: power and heat of GPUs in slices, replicas of services beside training, clocks
// and the stages of a step, accounts of shared GPUs, saves of jobs that are resized. By hand.
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/table.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/metrics.hpp"
#include "tests/a100s.hpp"
#include "tests/audit.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::A100s;
using test::ErrorOf;
using test::Finish;
using test::Says;

// GPUs of 50 W idle and 250 W at peak for 3.6 units an hour; 1 step/s.
ScenarioData V100s(int gpus, const std::vector<test::TinyJob>& jobs, const std::string& features) {
  ScenarioData data = test::TinyData({{"v100", gpus}}, {{1.0}}, jobs);
  GpuType& type = data.cluster.types[0];
  type.idle_power_w = 50.0, type.peak_power_w = 250.0, type.price_per_hour = 3.6;
  data.features = ParseFeatures(features);
  return data;
}

void SetClock(int device, int level, Decision& decision) {
  decision.controls.push_back({kClockControl, device, static_cast<double>(level)});
}

}  // namespace

// Each half has 3/7 of the GPU and its job, which could use all of it, makes 300 steps at 3/7 step/s: 700 s.
// The GPU draws 50 + 350 x 6/7 = 350 W, once: 245,000 J; at 107.5 C in the end, 20 + 100 x 350 / 400. With a
// cap of 200 W on its node both are clocked at half, 50 + 300 / 2 = 200 W, and take 1,400 s: 280,000 J. The
// job of utilisation 0.4 uses 0.4 on a half too: 50 + 350 x 0.4 = 190 W for its 300 s.
TEST_CASE("power: a GPU in slices is one GPU, to which they add") {
  const std::string halves = "partitions(layout=3g.40gb+3g.40gb,fixed=true);power(clocks=0.5:1,exponent=1,";
  const Simulator both = Finish(A100s(1, {{0, 300}, {0, 300}}, {1.0},
                                      halves + "heat=true,rise_c=100,time_constant_s=10,ambient_c=20,"
                                               "throttle_c=200)"));
  CHECK(both.now() == Approx(700.0));
  CHECK(Measure(both, {}).energy_kwh == Approx(245000.0 / 3.6e6));
  const PowerState& p = *both.state().features.Find<PowerState>();
  REQUIRE(p.watts.size() == 1);
  CHECK(TemperatureC(*both.scenario().data().features.Find<PowerSettings>(), p, 0, 700.0) == Approx(107.5));
  const Simulator capped = Finish(A100s(1, {{0, 300}, {0, 300}}, {1.0}, halves + "node_cap_w=200)"));
  CHECK(capped.now() == Approx(1400.0));
  CHECK(Measure(capped, {}).energy_kwh == Approx(280000.0 / 3.6e6));
  const Simulator light = Finish(A100s(1, {{0, 300}}, {0.4}, halves + "cap_w=0)"));
  CHECK(Measure(light, {}).energy_kwh == Approx(300.0 * 190.0 / 3.6e6));
  // A clock that is set on a slice is its GPU's: both jobs are slow.
  const Simulator slow = Finish(A100s(1, {{0, 300}, {0, 300}}, {1.0}, halves + "cap_w=0)"),
                                [](const Simulator& sim, Decision& d) {
                                  if (sim.now() == 0.0) SetClock(sim.scenario().first_device(4), 0, d);
                                });
  CHECK(slow.state().completion == std::vector<double>{1400.0, 1400.0});
}

// 5 requests/s of 0.1 s: the replica works half of the time, 150 W. The job holds the other GPU: 250 W. 1,000
// s of both are 400,000 J, with the feature power and without; 2 x 1,000 GPU-seconds cost 2.
TEST_CASE("services: replicas hold GPUs, cost and draw power") {
  for (const char* power : {"", ";power"}) {
    CAPTURE(power);
    const Simulator sim = Finish(
        V100s(2, {{0, 1000}}, Join("services(rate_per_s=5,base_s=0,item_s=0.1,interval_s=1000)", power)));
    const Metrics m = Measure(sim, {});
    CHECK(m.energy_kwh == Approx(400000.0 / 3.6e6));
    CHECK(m.utilization == Approx(1.0));
    CHECK(m.cost == Approx(2.0));
    CHECK(m.Of("service_gpu_hours") == Approx(1000.0 / 3600.0));
    // The requests themselves: some 5,000 come, give or take 1.4%.
    ServiceState played = *sim.state().features.Find<ServiceState>();
    played.services[0].queue.PlayUntil(1000.0);
    CHECK(played.services[0].busy == 0.5);
    CHECK(played.services[0].queue.BusySeconds(1000.0) == Approx(500.0).epsilon(0.05));
  }
}

// A replica of half a GPU, 2.5 requests/s of 0.1 s at half speed: busy half of the time, so it uses 1/4 of
// the GPU, 100 W, alone up to 500 s. Then a job beside it, at 1/2 step/s to 1,000 s, fills the GPU: 250 W,
// 175,000 J in all. Half the GPU is held, then all of it: 750 GPU-seconds.
TEST_CASE("services: a GPU that a replica shares is counted once") {
  for (const char* power : {"", ";power"}) {
    CAPTURE(power);
    const Simulator sim =
        Finish(V100s(1, {{500, 250}},
                     Join("services(rate_per_s=2.5,base_s=0,item_s=0.1,share=0.5,interval_s=500)", power)));
    CHECK(sim.now() == 1000.0);
    const Metrics m = Measure(sim, {});
    CHECK(m.energy_kwh == Approx(175000.0 / 3.6e6));
    CHECK(m.utilization == Approx(0.75));
    CHECK(m.cost == Approx(0.75));
    CHECK(m.Of("service_gpu_hours") == Approx(500.0 / 3600.0));
  }
}

// Requests of 1 s, alone: 1 s at the full clock, 2 s at half of it, 7/3 s on 3/7 of a GPU, 14/3 s there at
// half the clock. Percentiles are good to 1%.
TEST_CASE("services: replicas are as fast as their part of a GPU and its clock") {
  const auto median = [](const ScenarioData& data, bool slow) {
    const Simulator sim = Finish(data, [&](const Simulator& s, Decision& d) {
      if (s.now() == 0.0 && slow) SetClock(0, 0, d);
    });
    return Measure(sim, {}).Of("service_p50_s");
  };
  const std::string service =
      "services(rate_per_s=0.001,base_s=0,item_s=1,max_batch=1,slo_s=9,interval_s="
      "1e5);power(clocks=0.5:1)";
  const ScenarioData whole = V100s(2, {{0, 1e5}}, service);
  CHECK(median(whole, false) == Approx(1.0).epsilon(0.011));
  CHECK(median(whole, true) == Approx(2.0).epsilon(0.011));
  const ScenarioData half =
      A100s(1, {{0, 4e4}}, {1.0}, "partitions(layout=3g.40gb+3g.40gb,fixed=true);" + service);
  CHECK(median(half, false) == Approx(7.0 / 3.0).epsilon(0.011));
  CHECK(median(half, true) == Approx(14.0 / 3.0).epsilon(0.011));
}

// One request, of 1 s. After 0.5 s its replica goes on at half the speed: 0.5 + 1 s.
TEST_CASE("services: a batch at work goes on at its replica's new speed") {
  RequestStream::Settings settings;
  settings.rate = 1e-3;
  RequestStream stream(settings, Stream(7, Purpose::kTest));
  RequestQueue queue({0.0, 1.0, 10.0, 1}, stream, Stream(8, Purpose::kTest));
  const double at = stream.Next();
  REQUIRE(stream.Next() > at + 10.0);
  queue.SetReplicas(0.0, {4}, {1.0});
  queue.SetReplicas(at + 0.5, {4}, {0.5});
  queue.PlayUntil(at + 1.49);
  CHECK(queue.answered() == 0);
  queue.PlayUntil(at + 1.51);
  CHECK(queue.answered() == 1);
  CHECK(queue.latency_sum() == Approx(1.5));
}

// A step: 1 s on the GPU, 2 s on the CPU cores. Overlapped it takes 2 s at any clock that leaves the GPU 2 s;
// one after the other 3 s at the full clock, 4 s at half. With all preprocessing on the GPU (1 s of it) 2 s
// and 4 s. A replica that has half of the GPU does the same as half the clock.
TEST_CASE("stages: a slow GPU slows the GPU part of a step") {
  const auto seconds = [](const std::string& stages, const std::string& other) {
    const std::string text = "stages(cpu_core_s=16,gpu_prep_s=1,cores_per_gpu=8," + stages + ");" + other;
    return Finish(V100s(1, {{0, 100}}, text),
                  [](const Simulator& sim, Decision& d) {
                    if (sim.state().features.Find<PowerState>() && sim.now() == 0.0) SetClock(0, 0, d);
                  })
        .state()
        .completion[0];
  };
  const std::string replica = "services(rate_per_s=0.001,share=0.5)";
  for (const std::string& half : {std::string("power(clocks=0.5:1)"), replica}) {
    CAPTURE(half);
    CHECK(seconds("overlap=true", half) == Approx(200.0));
    CHECK(seconds("overlap=false", half) == Approx(400.0));
    CHECK(seconds("overlap=true,offload=1", half) == Approx(400.0));
  }
  CHECK(seconds("overlap=false", "monitoring") == Approx(300.0));
  CHECK(seconds("overlap=true,offload=1", "monitoring") == Approx(200.0));
  // The best part to move, too, depends on it: 1 + f = 2 (1 - f) gives f = 1/3 and 4/3 s a step; at half the
  // clock 2 + 2 f = 2 (1 - f) gives none, and 2 s.
  CHECK(seconds("offload=-1", "monitoring") == Approx(400.0 / 3.0));
  CHECK(seconds("offload=-1", "power(clocks=0.5:1)") == Approx(200.0));
}

// 7 cores come with a GPU, so 3 with a slice of 3/7: 21 core-seconds take 7 s, more than the 7/3 s of
// compute. Half of a GPU by thousandths has 3.5 cores: 6 s, against 2 s of compute there.
TEST_CASE("stages: a part of a GPU comes with its part of the cores") {
  const std::string stages = "stages(cpu_core_s=21,cores_per_gpu=7);";
  const Simulator slice =
      Finish(A100s(1, {{0, 10}}, {1.0}, stages + "partitions(layout=3g.40gb+3g.40gb,fixed=true)"));
  CHECK(slice.now() == Approx(70.0));
  ScenarioData half = V100s(1, {{0, 10}}, stages + "sharing");
  half.jobs.gpu_milli = {500};
  CHECK(Finish(half).now() == Approx(60.0));
}

// Seven slices of 1/7, seven jobs of 10 steps at 1/7 step/s: 70 s of the whole GPU. An eighth starts at 70
// and needs 7 s of 1/7: 70 + 1 GPU-seconds over the 70 s to the last start.
TEST_CASE("hpc_utilization counts GPU-seconds: of slices their part, of a shared GPU each once") {
  std::vector<test::TinyJob> jobs(7, {0, 10});
  jobs.push_back({0, 1});
  const std::string sevenths = "1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb";
  const Simulator slices = Finish(A100s(1, jobs, {1.0}, "partitions(fixed=true,layout=" + sevenths + ")"));
  CHECK(Measure(slices, {}).hpc_utilization == Approx(71.0 / 70.0));
  // Halves of one GPU by thousandths: 100 s each, then 1 s.
  ScenarioData parts = V100s(1, {{0, 50}, {0, 50}, {0, 0.5}}, "sharing(interference=0)");
  parts.jobs.gpu_milli = {500, 500, 500};
  CHECK(Measure(Finish(parts,
                       [](const Simulator& sim, Decision& d) {
                         if (sim.now() == 0.0) d.Start(1, 0);
                       }),
                {})
            .hpc_utilization == Approx(100.5 / 100.0));
  // Two packed on one GPU at half speed for 100 s, then one alone for 1 s.
  ScenarioData pair = V100s(1, {{0, 50}, {0, 50}, {0, 1}}, "");
  pair.throughputs.pairs = {0.5, 0.5};
  CHECK(Measure(Finish(pair,
                       [](const Simulator& sim, Decision& d) {
                         if (sim.now() == 0.0) d.Pack(1, 0);
                       }),
                {})
            .hpc_utilization == Approx(101.0 / 100.0));
}

// Saved every 100 s of progress. The job is resized every 30 s, which takes no time here: it is saved at 100
// and 200 all the same, and a failure at 230 costs it 30 steps.
TEST_CASE("checkpoints: a resize saves nothing and puts nothing off") {
  ScenarioData data =
      V100s(4, {{0, 250, 0, 2}},
            "elasticity(resize_s=0,curve=1:1:1);checkpoints(gb=0,interval=100);failures(mtbf_h=0,events=230:"
            "231:node:v100/0|230:231:node:v100/1)");
  data.cluster.types[0].gpus_per_node = 2;
  const Simulator sim = Finish(data, [](const Simulator& s, Decision& d) {
    if (s.now() >= 230.0) return;
    if (s.now() > 0.0) d.Resize(0, 0, 3 - s.state().Width(0));
    d.wake_at = s.now() + 30.0;
    const double saved = s.now() < 100.0 ? kNever : s.now() < 200.0 ? 100.0 : 200.0;
    CHECK(s.state().features.Find<CheckpointState>()->saved_at[0] == saved);
  });
  CHECK(sim.state().lost_steps[0] == Approx(30.0));
  CHECK(sim.state().completion[0] == Approx(231.0 + 50.0));
}

TEST_CASE("features: what names a file that is none, or a table that is not there, says so in one line") {
  const test::TemporaryFolder folder;
  const auto parsed = [&](const std::string& text) -> std::string {
    try {
      ParseFeatures(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(Says(parsed("failures(log=" + folder.path() + ")"), "expected a file, found a directory"));
  CHECK(
      Says(ErrorOf(V100s(1, {{0, 1}}, "estimates(by=table)")), "by: expected a scenario file with believed"));
}

// A deliberate bug for each rule.
TEST_CASE("services and rates: the invariants see what is wrong") {
  const ScenarioData data =
      V100s(3, {{0, 1000}, {0, 1000}}, "services(share=0.5,replicas=1);power;stages(cpu_core_s=1)");
  Simulator sim{Scenario(data)};
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, std::vector<int>{0}), decision.Start(1, 0, std::vector<int>{1});
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.state().features.Find<ServiceState>()->replica_of == std::vector<int>{0, -1, -1});
  const auto violation = [&](const std::function<void(SimState&)>& spoil) {
    test::Frame frame(sim);
    spoil(frame.state);
    return CheckInvariants(frame.Invariant(sim.scenario()));
  };
  CHECK(violation([](SimState&) {}) == "");
  CHECK(Says(violation([](SimState& s) { s.rate[1] *= 0.5; }), "rates: job 1 runs at"));
  CHECK(Says(violation([](SimState& s) { s.features.Find<PowerState>()->duty[1] = 0.5; }),
             "rates: job 1 runs at"));
  CHECK(Says(violation([](SimState& s) { s.features.Find<ServiceState>()->replica_of[0] = -1; }),
             "rates: job 0 runs at"));
  const auto of_services = [&](const std::function<void(ServiceState&)>& spoil) {
    test::Frame frame(sim);
    ServiceState& services = *frame.state.features.Find<ServiceState>();
    spoil(services);
    return services.Violation(frame.Invariant(sim.scenario()));
  };
  CHECK(Says(of_services([](ServiceState& s) { s.replica_of[2] = 0; }), "device 2"));
  CHECK(Says(violation([](SimState& s) { s.features.Find<ServiceState>()->beside[0] = 0; }),
             "services: device 0: 1 jobs"));
  CHECK(Says(of_services([](ServiceState& s) { s.services[0].busy = 0.9; }), "is said to work"));
  CHECK(Says(violation([](SimState& s) { s.features.Find<PowerState>()->other_load[0] = 0; }),
             "power: device 0: what is not a job"));
}

}  // namespace berth
