// The schedulers of baselines/power/: by hand, by exhaustive search, and by the controller's recurrence.
#include <algorithm>
#include <cmath>

#include "env/base/rng.hpp"
#include "env/features/monitoring/monitoring.hpp"
#include "env/features/power/electricity.hpp"
#include "env/features/power/power.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

GpuType& Watts(GpuType& type, double idle, double peak) {
  type.idle_power_w = idle, type.peak_power_w = peak;
  return type;
}

}  // namespace

TEST_CASE("energy_efficient: the type and the clock of least energy within the bound") {
  // Fast: 2 steps/s at 400 W, 200 J a step. Slow: 1 step/s at 100 W, 100 J. With clocks 0.5 and 1, exponent 2
  // and idle 40 W of each: fast at half 1 step/s at 40 + 360 / 4 = 130 W, 130 J; slow at half 0.5 steps/s at
  // 40 + 60 / 4 = 55 W, 110 J. So: bound 1: fast at full. Bound 2: slow at full (100 J). On the slow ones
  // taken: fast at half.
  ScenarioData data = test::TinyData({{"fast", 4}, {"slow", 1}}, {{2.0, 1.0}}, {{0, 100}, {0, 100}});
  Watts(data.cluster.types[0], 40.0, 400.0), Watts(data.cluster.types[1], 40.0, 100.0);
  const Scenario plain{data};
  CHECK(test::Decisions("energy_efficient(slowdown=1)", plain) == test::Log{"0 start 0@0", "0 start 1@0"});
  CHECK(test::Decisions("energy_efficient(slowdown=2)", plain) == test::Log{"0 start 0@1", "0 start 1@0"});
  data.features = ParseFeatures("power(clocks=0.5:1,exponent=2)");
  const Scenario clocked{data};
  const auto full = test::Ends("energy_efficient(slowdown=1)", clocked);
  CHECK(full == std::vector<double>{50.0, 50.0});
  CHECK(test::Decisions("energy_efficient(slowdown=2)", clocked) == test::Log{"0 start 0@1", "0 start 1@0"});
  CHECK(test::Ends("energy_efficient(slowdown=2)", clocked) == std::vector<double>{100.0, 100.0});
  // Only what is above idle: slow at half 15 / 0.5 = 30 J, at full 60 J, fast at half 90 J, so with bound 4
  // the slow one at half.
  CHECK(test::Ends("energy_efficient(slowdown=4,idle=false)", clocked)[0] == 200.0);
}

TEST_CASE("energy_efficient: the clock is where the derivative says") {
  // E(f) = (idle + dynamic f^e) / f is least at f = (idle / ((e - 1) dynamic))^(1 / e); with 100 levels the
  // chosen one is next to it.
  std::string clocks;
  for (int percent = 1; percent <= 100; ++percent) clocks += Join(percent > 1 ? ":" : "", 0.01 * percent);
  for (const double exponent : {1.7, 2.4, 3.0}) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}});
    Watts(data.cluster.types[0], 60.0, 300.0);
    data.features = ParseFeatures(Join("power(clocks=", clocks, ",exponent=", exponent, ")"));
    const double best = std::pow(60.0 / ((exponent - 1.0) * 240.0), 1.0 / exponent);
    const double end = test::Ends("energy_efficient(slowdown=100)", Scenario(data))[0];
    CAPTURE(exponent, best);
    CHECK(std::abs(100.0 / end - best) <= 0.01);
  }
}

TEST_CASE("coolest_first: work goes to the coolest GPU, and to a throttled one last") {
  // Four nodes of one GPU, 26, 24, 22 and 20 C around; job 0 takes GPU 3, job 1 GPU 2. At 1,000 s (10 time
  // constants) job 0 is done; at 1,010 s GPU 3 is still warm, so job 2 takes GPU 1; at 3,000 s job 3 takes
  // GPU 3 again.
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 1000}, {1, 5000}, {1010, 9000}, {3000, 10}});
  Watts(data.cluster.types[0], 0.0, 300.0);
  data.features = ParseFeatures("power(heat=true,ambient_c=20,hot_spot_c=6,rise_c=50,time_constant_s=100)");
  const RunResult run = test::RunOf("coolest_first", Scenario(data));
  std::vector<int> devices;
  for (const Event& event : run.events) {
    if (event.kind == EventKind::kStart) devices.push_back(event.device);
  }
  CHECK(devices == std::vector<int>{3, 2, 1, 3});
  // Without heat it is fcfs.
  const Scenario plain = test::RandomScenario(5, 40, {ClockKind::kEvent});
  CHECK(test::RunOf("coolest_first", plain).signature == test::RunOf("fcfs", plain).signature);
}

TEST_CASE("coolest_first: no job throttles where there is room at the cool end, with fcfs every one does") {
  // Eight nodes of one GPU, 49 C around the first and 25 C around the last, 50 K more under load; 83 C is
  // reached where the air is above 33 C. Two jobs of 1,000 s every 2,000 s (20 time constants of cooling
  // between): the last two GPUs, 28.4 and 25 C, never throttle; the first two would go to 99 and 95.6 C.
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back({2000.0 * (i / 2), 1000.0});
  ScenarioData data = test::TinyData({{"a", 8}}, {{1.0}}, jobs);
  Watts(data.cluster.types[0], 0.0, 300.0);
  data.features = ParseFeatures("power(heat=true,hot_spot_c=24,rise_c=50,time_constant_s=50,throttle_c=83)");
  const Scenario scenario{data};
  for (double jct : test::RunOf("coolest_first", scenario).jct_s) CHECK(jct == 1000.0);
  for (double jct : test::RunOf("fcfs", scenario).jct_s) CHECK(jct > 1100.0);
}

TEST_CASE("cheap_hours: starts are those of exhaustive search, and deadlines are met") {
  Stream stream(3, Purpose::kTest);
  for (int round = 0; round < 40; ++round) {
    std::string prices;
    for (int hour = 0; hour < 24; ++hour) prices += Join(hour > 0 ? ":" : "", 1 + stream.Below(9));
    // One job that has the cluster to itself; whole minutes, so that the grid of minutes has the best start.
    const double arrival = 60.0 * stream.Below(2000), run = 60.0 * (1 + stream.Below(400));
    const double slack = 60.0 * stream.Below(3000);
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{arrival, run}});
    Watts(data.cluster.types[0], 0.0, 100.0);
    data.jobs.deadline = {arrival + run + slack};
    data.features = ParseFeatures(Join("power(electricity_price=", prices, ")"));
    const std::vector<double>& hours = data.features.Find<PowerSettings>()->electricity_price;
    const RunResult result = test::RunOf("cheap_hours(margin=0)", Scenario(data));
    double least = kNever, when = 0.0;
    for (double start = arrival; start <= arrival + slack; start += 60.0) {
      double cost = 0.0;  // minute by minute, by the price list alone
      for (double t = start; t < start + run; t += 60.0) cost += PriceAt(hours, t) / 60.0 * 0.1;
      if (cost < least * (1.0 - 1e-12)) least = cost, when = start;
    }
    CAPTURE(round, prices, arrival, run, slack);
    CHECK(result.metrics.cost == Approx(least).epsilon(1e-9));
    CHECK(arrival + result.jct_s[0] == Approx(when + run).epsilon(1e-12));
    CHECK(result.metrics.deadline_miss_rate == 0.0);
  }
}

TEST_CASE("cheap_hours: without prices or deadlines nothing waits for them") {
  ScenarioData data = test::RandomScenario(6, 40, {ClockKind::kEvent}).data();
  const auto now = test::Ends("cheap_hours", Scenario(data));
  data.features = ParseFeatures("power(electricity_price=1:2:1)");
  CHECK(test::Ends("cheap_hours", Scenario(data)) == now);  // no deadlines
}

TEST_CASE("power_feedback: the share let out follows the controller's recurrence to the target") {
  // 100 GPUs, a queue that never ends, jobs of which each draws half of its span: measured 0.5 x, x the share
  // that runs. From x_0 = 0.4 with target 0.4 and ki = 0.5: x_{k+1} = x_k + 0.5 (0.4 - 0.5 x_k), so x_k = 0.8
  // - 0.4 0.75^k: a sample later that many GPUs are held, whole ones.
  std::vector<test::TinyJob> jobs(120, {0, 1e6});
  ScenarioData data = test::TinyData({{"a", 100}}, {{1.0}}, jobs);
  Watts(data.cluster.types[0], 20.0, 120.0);
  data.traits.utilization = {0.5};
  data.features = ParseFeatures("power;monitoring(interval_s=100)");
  Simulator sim{Scenario(data)};
  const auto scheduler = test::Make("power_feedback(target=0.4,ki=0.5)");
  scheduler->Reset(sim.View(scheduler->knowledge()));
  double x = 0.4;
  Decision decision;
  for (int k = 0; k <= 30; ++k) {
    REQUIRE(sim.AdvanceToDecision());
    CHECK(sim.now() == 100.0 * k);
    decision.Clear();
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    REQUIRE(sim.Apply(decision).ok());
    const double held = 100.0 - sim.state().free_gpus[0];
    CHECK(held <= 100.0 * x + 1e-9);  // as many as fit, but for rounding at whole numbers
    CHECK(held >= std::floor(100.0 * x - 1e-9));
    x += 0.5 * (0.4 - 0.5 * held / 100.0);                              // what is measured is what is held
    CHECK(std::abs(x - (0.8 - 0.4 * std::pow(0.75, k + 1))) <= 0.011);  // a GPU, and half of one by rounding
  }
  const MonitoringState& series = *sim.state().features.Find<MonitoringState>();
  // Of 2,000 W idle and 10,000 W of span: 0.4 is 6,000 W; whole GPUs of 50 W.
  CHECK(std::abs(series.watts.back() - 6000.0) <= 50.0 * 1.1);
  // Without a queue's series it is its inner scheduler.
  const Scenario plain = test::RandomScenario(5, 40, {ClockKind::kEvent});
  CHECK(test::RunOf("power_feedback", plain).signature == test::RunOf("fcfs", plain).signature);
}

}  // namespace berth
