// The feature power (env/features/power/power.hpp): by hand, against what was published, and on random
// scenarios.
#include "env/features/power/power.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "env/base/rng.hpp"
#include "env/features/power/electricity.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

// GPUs of 50 W idle and 250 W at peak, two to a node.
ScenarioData Powered(int gpus, const std::vector<test::TinyJob>& jobs, const std::string& features,
                     const std::string& clock = "event") {
  ScenarioData data = test::TinyData({{"a", gpus}}, {{1.0}, {1.0}}, jobs, Clock::Parse(clock));
  data.cluster.types[0].gpus_per_node = 2;
  data.cluster.types[0].idle_power_w = 50.0;
  data.cluster.types[0].peak_power_w = 250.0;
  data.features = ParseFeatures(features);
  return data;
}

// Runs to the end; `fill` orders at each decision point, then every waiting job starts where there is room.
Simulator Finish(const ScenarioData& data,
                 const std::function<void(const Simulator&, Decision&)>& fill = {}) {
  Simulator sim{Scenario(data)};
  Decision decision;
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    if (fill) fill(sim, decision);
    int room = sim.state().free_gpus[0];
    for (int job : sim.state().waiting) {
      const int gang = data.jobs.gang[static_cast<std::size_t>(job)];
      if (gang <= room) decision.Start(job, 0), room -= gang;
    }
    const ApplyResult applied = sim.Apply(decision);
    INFO(Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    REQUIRE(CheckInvariants(sim) == "");
  }
  REQUIRE(sim.finished());
  return sim;
}

double End(const Simulator& sim, int job) {
  return sim.state().completion[static_cast<std::size_t>(job)];
}

std::string ErrorOf(const std::string& features, const std::function<void(ScenarioData&)>& change = {}) {
  ScenarioData data = Powered(4, {{0, 10}}, features);
  if (change) change(data);
  try {
    Scenario scenario(std::move(data));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("power: a clock sets speed and draw, and stays until another is set") {
  // Job 0 runs 400 s at the full clock (250 W), its other 600 steps at half speed in 1,200 s at
  // 50 + 200 x 0.5^2 = 100 W, to 1,600 s. Job 1 finds the clock as it is: 100 steps in 200 s at 100 W.
  // 100,000 + 120,000 + 20,000 J. The price is 0.36 in the first 1,000 s... in hour 1 all of it, so
  // 240,000 J = 1 / 15 kWh cost 0.36 / 15 = 0.024.
  const ScenarioData data =
      Powered(1, {{0, 1000}, {400, 100}}, "power(clocks=0.5:1,exponent=2,electricity_price=0.36:9)");
  const Simulator sim = Finish(data, [](const Simulator& s, Decision& d) {
    if (s.now() == 400.0) d.controls.push_back({kClockControl, 0, 0.0});
  });
  CHECK(End(sim, 0) == 1600.0);
  CHECK(End(sim, 1) == 1800.0);
  const Metrics m = Measure(sim, {});
  CHECK(m.energy_kwh == Approx(240000.0 / 3.6e6).epsilon(1e-14));
  CHECK(m.cost == Approx(0.024).epsilon(1e-14));
}

TEST_CASE("power: with prices of GPUs and of electricity, cost has both") {
  // One GPU at 1.8 an hour for 1,000 s costs 0.5. It draws 250 W: 250,000 J = 5 / 72 kWh at 0.36 cost 0.025.
  ScenarioData data = Powered(1, {{0, 1000}}, "power(electricity_price=0.36:0.36)");
  data.cluster.types[0].price_per_hour = 1.8;
  const Metrics both = Measure(Finish(data), {});
  CHECK(both.cost == Approx(0.525).epsilon(1e-14));
  CHECK(both.Of("electricity_cost") == Approx(0.025).epsilon(1e-14));
  data.features = ParseFeatures("power");
  CHECK(Measure(Finish(data), {}).cost == Approx(0.5).epsilon(1e-14));
}

TEST_CASE("power: a gang runs at its slowest GPU, and sensitivity says how much slower") {
  // Speed curve 0.8 at the lower clock. Job type 0: beta = 1, so 0.8. Type 1: beta = 0.5, so
  // 1 / (0.5 (1 / 0.8 - 1) + 1) = 1 / 1.125. One GPU of each gang is slow.
  const ScenarioData data =
      Powered(4, {{0, 900, 0, 2}, {0, 900, 1, 2}}, "power(clocks=0.5:1,speeds=0.8:1,sensitivity=1:0.5)");
  const Simulator sim = Finish(data, [](const Simulator& s, Decision& d) {
    if (s.now() > 0.0) return;
    d.controls.push_back({kClockControl, 1, 0.0});
    d.controls.push_back({kClockControl, 2, 0.0});
  });
  CHECK(End(sim, 0) == Approx(1125.0).epsilon(1e-14));
  CHECK(End(sim, 1) == Approx(1012.5).epsilon(1e-14));
}

TEST_CASE("power: a cap lowers clocks uniformly, and lets them rise again") {
  // Two GPUs, clocks 0.5, 0.75 and 1, exponent 1: 150, 200 and 250 W each. Both busy: 500 W is above the cap
  // of 420 W, 400 W is not. At 0.75 job 0 does its 300 steps in 400 s; then job 1, which has done 300 of 600,
  // goes on at the full clock (250 + 50 W) and ends at 700 s.
  const char* power = "power(clocks=0.5:0.75:1,exponent=1,cap_w=420,cap_rule=uniform)";
  for (const char* clock : {"event", "rounds(500)"}) {  // in a round too: at 400 s
    CAPTURE(clock);
    const Simulator sim = Finish(Powered(2, {{0, 300}, {0, 600}}, power, clock));
    CHECK(End(sim, 0) == Approx(400.0).epsilon(1e-14));
    CHECK(End(sim, 1) == Approx(700.0).epsilon(1e-14));
    // 400 s at 400 W, 300 s at 300 W, under rounds idle from 700 s to 1,000 s.
    const double idle = sim.now() - 700.0;
    CHECK(EnergyJ(*sim.state().features.Find<PowerState>(), sim.now()) ==
          Approx(250000.0 + 100.0 * idle).epsilon(1e-14));
  }
}

TEST_CASE("power: the rule highest lowers who draws most, first the lowest-numbered") {
  // As above. GPU 0 goes to 200 W: 450 W, still above 420 W. Now GPU 1 draws most: 200 W too, 400 W. With a
  // cap of 460 W only GPU 0 is lowered: job 0 needs 400 s, job 1 is done at 300 s.
  const auto ends = [](double cap) {
    const Simulator sim =
        Finish(Powered(2, {{0, 300}, {0, 300}},
                       Join("power(clocks=0.5:0.75:1,exponent=1,cap_rule=highest,cap_w=", cap, ")")));
    return std::pair(End(sim, 0), End(sim, 1));
  };
  CHECK(ends(420.0).first == Approx(400.0).epsilon(1e-14));
  CHECK(ends(420.0).second == Approx(400.0).epsilon(1e-14));
  CHECK(ends(460.0).second == Approx(300.0).epsilon(1e-14));
  // At 300 s job 0 has done 225 of 300; alone it may have the full clock: 75 s more.
  CHECK(ends(460.0).first == Approx(375.0).epsilon(1e-14));
}

TEST_CASE("power: below the lowest level GPUs are clocked part of the time, so that the cap holds") {
  // A node of two, lowest level 150 W each, cap 200 W: of the 100 W each above idle half may be drawn, so a
  // job makes 0.5 x 0.5 steps/s. The other node has no cap worth the name and is not touched.
  for (const char* rule : {"uniform", "highest"}) {
    const Simulator sim = Finish(Powered(4, {{0, 100}, {0, 100}, {0, 100}},
                                         Join("power(clocks=0.5:1,exponent=1,cap_rule=", rule, ")")),
                                 [](const Simulator& s, Decision& d) {
                                   if (s.now() == 0.0) d.controls.push_back({kPowerCapControl, 0, 200.0});
                                   if (s.now() > 0.0)
                                     CHECK(TotalWatts(*s.state().features.Find<PowerState>()) <= 600.0);
                                 });
    CHECK(End(sim, 0) == Approx(400.0).epsilon(1e-12));
    CHECK(End(sim, 1) == Approx(400.0).epsilon(1e-12));
    CHECK(End(sim, 2) == 100.0);
  }
}

TEST_CASE("power: caps of nodes and of the cluster hold together") {
  Simulator sim(Scenario(Powered(4, {{0, 100, 0, 4}}, "power(node_cap_w=400,cap_w=620)")));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  const PowerState& p = *sim.state().features.Find<PowerState>();
  CHECK(p.watts[0] + p.watts[1] <= 400.0);
  CHECK(TotalWatts(p) <= 620.0);
  decision.Clear();
  decision.controls.push_back({kPowerCapControl, -1, kNever});  // the cluster's is lifted
  REQUIRE(sim.Apply(decision).ok());
  // The highest of six levels with 2 (50 + 200 f^1.7) <= 400 W: f = 0.8 gives 373.7 W, 0.9 gives 434.4 W.
  CHECK(TotalWatts(p) == Approx(2.0 * 373.7).margin(0.1));
  decision.controls = {{kPowerCapControl, 0, 99.0}};  // below idle
  CHECK(sim.Apply(decision).rule == Rule::kControl);
  decision.controls = {{kClockControl, 0, 6.0}};  // no such level
  CHECK(sim.Apply(decision).rule == Rule::kControl);
  decision.controls = {{kClockControl, 0, 0.5}};
  CHECK(sim.Apply(decision).rule == Rule::kControl);
}

TEST_CASE("power: a GPU throttles and recovers when the exponentials say") {
  // Rise 100 K at 250 W, so 80 K at the 200 W of utilisation 0.75, and 20 K when idle; ambient 20 C, tau 100
  // s. From 40 C towards 100 C: 80 C is met after t1 = 100 ln(60 / 20) s. Then the lowest clock.
  const auto run = [](double low) {
    ScenarioData data = Powered(1, {{0, 1000}},
                                Join("power(clocks=", low,
                                     ":1,exponent=1,heat=true,rise_c=100,time_constant_s=100,"
                                     "ambient_c=20,throttle_c=80,hysteresis_c=5)"));
    data.traits.utilization = {0.75, 0.75};
    return Finish(data);
  };
  const double t1 = 100.0 * std::log(3.0);
  const Simulator kept = run(0.75);  // 50 + 150 x 0.75 = 162.5 W: towards 85 C, so never below 75 C
  CHECK(End(kept, 0) == Approx(t1 + (1000.0 - t1) / 0.75).epsilon(1e-12));
  CHECK(kept.state().features.Find<PowerState>()->throttles[0] == 1);
  // With half the clock 125 W: from 80 towards 70 C, 75 C is met after 100 ln(10 / 5) = 69.3 s; from there
  // towards 100 C, 80 C after 100 ln(25 / 20) = 22.3 s. A cycle makes 69.3 / 2 + 22.3 steps.
  const Simulator cycling = run(0.5);
  const double down = 100.0 * std::log(2.0), up = 100.0 * std::log(1.25), cycle = down / 2.0 + up;
  const double left = 1000.0 - t1;
  const double whole = std::floor(left / cycle), rest = left - whole * cycle;
  const double last = rest <= down / 2.0 ? 2.0 * rest : down + (rest - down / 2.0);
  CHECK(End(cycling, 0) == Approx(t1 + whole * (down + up) + last).epsilon(1e-6));
  CHECK(cycling.state().features.Find<PowerState>()->throttles[0] == 1 + static_cast<int>(whole));
}

TEST_CASE("power: the best clock saves as much energy of training as was measured") {
  // Tang, Wang, Wang & Chu, e-Energy 2019: 8.7% to 23.1% at the best core frequency, GPUs of these
  // generations.
  const PowerSettings s;
  for (const auto& [idle, peak] : {std::pair(40.0, 300.0), std::pair(30.0, 250.0)}) {
    double best = 1.0;
    for (int level = 0; level < s.levels(); ++level) {
      best = std::min(best, (idle + (peak - idle) * s.DynamicShare(level)) / peak / s.Speed(0, level));
    }
    CHECK(1.0 - best >= 0.087);
    CHECK(1.0 - best <= 0.231);
  }
}

TEST_CASE("electricity: prices repeat, and the integral is that of the steps") {
  const std::vector<double> hours = {1.0, 3.0, -0.5};
  CHECK(PriceAt(hours, 0.0) == 1.0);
  CHECK(PriceAt(hours, 3600.0) == 3.0);
  CHECK(PriceAt(hours, 4.0 * 3600.0 + 1.0) == 3.0);
  CHECK(PriceIntegral(hours, 5400.0) == 3600.0 + 5400.0);
  CHECK(PriceIntegral(hours, 3.0 * 3600.0) == 3.5 * 3600.0);
  CHECK(PriceIntegral(hours, 7.5 * 3600.0) == (2.0 * 3.5 + 1.0 + 1.5) * 3600.0);
  CHECK(PriceIntegral({}, 1e6) == 0.0);
}

TEST_CASE("power: with nothing to hold it changes no run") {
  for (const char* spec : {"srpt", "easy", "gavel"}) {
    for (const char* clock : {"event", "rounds(60)"}) {
      CAPTURE(spec, clock);
      const Scenario plain = test::RandomScenario(3, 40, Clock::Parse(clock));
      const Scenario watched = WithFeatures(plain, ParseFeatures("power;monitoring(interval_s=17)"));
      const RunResult a = test::RunOf(spec, plain), b = test::RunOf(spec, watched);
      REQUIRE(a.events.size() == b.events.size());
      CHECK(a.signature == b.signature);
    }
  }
}

// Random clocks, caps and jobs under caps, heat and failures: every rule holds, both books agree, and the
// energy is the sum over the intervals between decisions. Under clock event all that changes power brings
// one.
TEST_CASE("power: energy is conserved on random scenarios", "[checker]") {
  int throttles = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    ScenarioData data = test::RandomScenario(seed, 60, {ClockKind::kEvent}).data();
    for (GpuType& type : data.cluster.types) {
      type.gpus_per_node = 2, type.idle_power_w = 30.0, type.peak_power_w = 300.0;
    }
    data.traits.utilization = {1.0, 0.5, 0.8};
    data.features = ParseFeatures(
        Join("failures(mtbf_h=2,repair_h=0.05);power(cap_rule=", seed % 2 == 0 ? "uniform" : "highest",
             ",cap_w=2400,node_cap_w=500,heat=true,rise_c=60,time_constant_s=40,ambient_swing_c=",
             seed % 3 == 0 ? 4 : 0, ",hot_spot_c=6,throttle_c=75,electricity_price=0.1:0.4:0.2)"));
    Simulator sim{Scenario(data)};
    const auto scheduler = test::Make("las(quantum=100)");
    scheduler->Reset(sim.View(scheduler->knowledge()));
    Stream stream(seed, Purpose::kTest, Split::kTrain, 7);
    Auditor auditor;
    Decision decision;
    double joules = 0.0, cost = 0.0, time = 0.0, watts = TotalWatts(*sim.state().features.Find<PowerState>());
    const std::vector<double>& hours = data.features.Find<PowerSettings>()->electricity_price;
    while (sim.AdvanceToDecision()) {
      REQUIRE(test::Observe(auditor, sim) == "");
      joules += watts * (sim.now() - time);
      cost += watts * (PriceIntegral(hours, sim.now()) - PriceIntegral(hours, time)) / 3.6e6;
      time = sim.now();
      decision.Clear();
      scheduler->Decide(sim.View(scheduler->knowledge()), decision);
      const int device = static_cast<int>(stream.Below(13));
      decision.controls.push_back({kClockControl, device, static_cast<double>(stream.Below(6))});
      decision.controls.push_back({kPowerCapControl, 0, stream.Uniform(61.0, 500.0)});
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(test::Observe(auditor, sim) == "");
      watts = TotalWatts(*sim.state().features.Find<PowerState>());
    }
    REQUIRE(sim.finished());
    joules += watts * (sim.now() - time);
    cost += watts * (PriceIntegral(hours, sim.now()) - PriceIntegral(hours, time)) / 3.6e6;
    CHECK(EnergyJ(*sim.state().features.Find<PowerState>(), sim.now()) == Approx(joules).epsilon(1e-11));
    CHECK(Measure(sim, {}).cost == Approx(cost).epsilon(1e-11));
    for (int times : sim.state().features.Find<PowerState>()->throttles) throttles += times;
  }
  CHECK(throttles > 100);  // heat was seen at work
}

// Within a round timers and completions change rates too: every rule holds at every boundary, and in builds
// with BERTH_DEBUG_CHECKS the auditor looks at each change.
TEST_CASE("power: under rounds every rule holds", "[checker]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    ScenarioData data = test::RandomScenario(seed, 60, Clock::Parse("rounds(60)")).data();
    for (GpuType& type : data.cluster.types) {
      type.gpus_per_node = 2, type.idle_power_w = 30.0, type.peak_power_w = 300.0;
    }
    data.features = ParseFeatures(
        "failures(mtbf_h=2,repair_h=0.05);monitoring(interval_s=25);power(cap_rule=highest,cap_w=1500,"
        "node_cap_w=400,heat=true,rise_c=60,time_constant_s=20,hot_spot_c=6,throttle_c=60)");
    Simulator sim{Scenario(data)};
    const auto scheduler = test::Make(seed % 2 == 0 ? "srpt" : "coolest_first");
    scheduler->Reset(sim.View(scheduler->knowledge()));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      REQUIRE(CheckInvariants(sim) == "");
      decision.Clear();
      scheduler->Decide(sim.View(scheduler->knowledge()), decision);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim) == "");
    }
    REQUIRE(sim.finished());
    int throttles = 0;
    for (int times : sim.state().features.Find<PowerState>()->throttles) throttles += times;
    CHECK(throttles > 0);
  }
}

TEST_CASE("power: a deliberate bug in each part of its state is reported", "[checker]") {
  Simulator sim(Scenario(Powered(4, {{0, 100, 0, 2}, {0, 9}}, "power(cap_w=700,heat=true,throttle_c=70)")));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  struct Bug {
    const char* what;
    std::function<void(PowerState&)> spoil;
  };
  const Bug bugs[] = {
      {"a job's use is counted twice", [](PowerState& p) { p.load[1] *= 2; }},
      {"a clock is above what was asked", [](PowerState& p) { p.asked[0] = 0; }},
      {"throttling lowers nothing", [](PowerState& p) { p.throttled[0] = 1; }},
      {"the power of before a change stays", [](PowerState& p) { p.watts[3] += 1.0; }},
      {"a duty of nothing", [](PowerState& p) { p.duty[2] = 0.0; }},
      {"energy is lost", [](PowerState& p) { p.joules[1] -= 10000.0; }},
      {"energy is counted twice", [](PowerState& p) { p.joules[1] += 1e6; }},
      {"hotter than the throttle point", [](PowerState& p) { p.temperature_c[0] = 500.0; }},
      {"a cap that does not bind", [](PowerState& p) { p.cap_w = 201.0; }},
      {"a node's cap that does not bind", [](PowerState& p) { p.node_cap_w[0] = 101.0; }},
      {"a change that took no effect", [](PowerState& p) { p.dirty_nodes.push_back(0); }},
  };
  for (const Bug& bug : bugs) {
    CAPTURE(bug.what);
    test::Frame frame(sim);
    REQUIRE(CheckInvariants(frame.Invariant(sim.scenario())) == "");
    bug.spoil(*frame.state.features.Find<PowerState>());
    CHECK(CheckInvariants(frame.Invariant(sim.scenario())).rfind("power: ", 0) == 0);
  }
}

TEST_CASE("power: bad settings are refused in one line that names them") {
  const auto refuses = [](const std::string& features, const std::string& words,
                          const std::function<void(ScenarioData&)>& change = {}) {
    CAPTURE(features);
    const std::string error = ErrorOf(features, change);
    CHECK_THAT(error, Catch::Contains(words));
    CHECK(error.find('\n') == std::string::npos);
  };
  CHECK(ErrorOf("power") == "");
  refuses("power(cap_w=200)", "cap_w: expected more than the 200 W");
  refuses("power(node_cap_w=80)", "node_cap_w of a: expected more than the 100 W");
  refuses("power(clocks=0.5:0.25:1)",
          "clocks: expected shares that rise from level to level, found 0.25 after 0.5");
  refuses("power(clocks=0.5:0.9)", "rise to 1, found 0.9");
  refuses("power(clocks=0.5:1,speeds=1:0.9)", "speeds");
  refuses("power(clocks=0.5:1,speeds=0.5:0.7:1)", "expected one for each of 2 clocks, found 3");
  refuses("power(throttle_level=6)", "expected a level, 0 to 5, found 6");
  refuses("power(cap_rule=uniformly)", "did you mean 'uniform'");
  refuses("power(sensitivity=1:0.5:1)", "sensitivity: expected one number or 2");
  refuses("power(sensitivity=2)", "sensitivity: expected 0 to 1, found 2");
  refuses("power(heat=true,throttle_c=30)", "would throttle for ever");
  refuses("power(exponent=0.5)", "exponent: expected 1 to 4");
  refuses("power", "clock event or rounds", [](ScenarioData& d) { d.clock = Clock::Parse("hpc"); });
  refuses("power", "expected a peak of at least the idle 50 W",
          [](ScenarioData& d) { d.cluster.types[0].peak_power_w = 20.0; });
  refuses("power", "utilization", [](ScenarioData& d) { d.traits.utilization = {1.0, 1.5}; });
}

}  // namespace berth
