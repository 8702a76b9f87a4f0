// Feature sharing: parts of GPUs, their rates, classes and accounts, against arithmetic by hand and a second
// simulator that knows nothing of the first (all in thousandths and closed form between two events).
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::ErrorOf;

struct Part {
  double arrival, steps;
  int milli;
  Qos qos = Qos::kGuaranteed;
  int gang = 1;
};

ScenarioData PartsData(int gpus, const std::vector<Part>& parts, const std::string& features,
                       const std::string& clock = "event") {
  std::vector<test::TinyJob> jobs;
  for (const Part& part : parts) jobs.push_back({part.arrival, part.steps, 0, part.gang});
  ScenarioData data = test::TinyData({{"a", gpus}}, {{2.0}}, jobs, Clock::Parse(clock));
  for (const Part& part : parts) {
    data.jobs.gpu_milli.push_back(part.milli);
    data.jobs.qos.push_back(static_cast<int>(part.qos));
  }
  data.features = ParseFeatures(features);
  return data;
}

// Starts whatever fits in order of arrival until nothing does.
void StartAll(Simulator& sim) {
  for (bool any = true; any;) {
    any = false;
    const std::span<const int> waiting = sim.state().waiting;
    const std::vector<int> jobs(waiting.begin(), waiting.end());
    for (int job : jobs) {
      Decision decision;
      decision.Start(job, 0);
      any = sim.Apply(decision).ok() || any;
      REQUIRE(CheckInvariants(sim) == "");
    }
  }
}

double DoneAt(const Simulator& sim, int job) {
  return sim.state().completion[U(job)];
}

void RunAll(Simulator& sim) {
  Auditor auditor;
  while (sim.AdvanceToDecision()) {
    REQUIRE(test::Observe(auditor, sim) == "");
    StartAll(sim);
    REQUIRE(test::Observe(auditor, sim) == "");
  }
  REQUIRE(sim.finished());
}

}  // namespace

TEST_CASE("gpu shares: classes by hand") {
  // Alone a job makes 2 steps/s. Interference 0.25: two more on the GPU slow what is not promised by 1.5.
  // Guaranteed 0.5, burstable 0.25, best effort 0.25, all from 0 on:
  //   guaranteed 0.5 x 2 = 1, and never more
  //   burstable 0.25 promised; 0.25 are left and all of them go to it: (0.25 + 0.25 / 1.5) x 2 = 5/6
  //   best effort has nothing left: 0. A rate of 0 would never end, so the guaranteed job ends first.
  // Guaranteed: 30 steps, ends at 30; burstable has 25. Then of two: 0.25 promised, 0.75 left: (0.25 + 0.75 /
  // 1.25) x 2 = 1.7. Burstable: 42 steps, 17 left, ends at 40. Best effort alone: 2: 20 steps, ends at 50.
  Simulator sim(
      Scenario(PartsData(1, {{0, 30, 500}, {0, 42, 250, Qos::kBurstable}, {0, 20, 250, Qos::kBestEffort}},
                         "sharing(interference=0.25)")));
  RunAll(sim);
  CHECK(DoneAt(sim, 0) == Approx(30.0).epsilon(1e-12));
  CHECK(DoneAt(sim, 1) == Approx(40.0).epsilon(1e-12));
  CHECK(DoneAt(sim, 2) == Approx(50.0).epsilon(1e-12));
  // The GPU is busy once; by shares 30 x 1 + 10 x 0.5 + 10 x 0.25 GPU-seconds.
  CHECK(sim.BusySeconds(0) == Approx(50.0));
  CHECK(ShareSeconds(sim.core(), 0) == Approx(37.5));
}

// Burstable 0.3, 0.1 and 0.5 fill the GPU, so that best effort makes no step in 100 s and has nothing to save or load: alone from 101 on,
// 200 steps at 2 a second end at 201. In thirds of what is left their sums are rounded.
TEST_CASE("gpu shares: whom others leave nothing makes no progress at all") {
  Simulator sim(Scenario(PartsData(1,
                                   {{0, 999, 300, Qos::kBurstable},
                                    {0, 999, 100, Qos::kBurstable},
                                    {0, 999, 500, Qos::kBurstable},
                                    {0, 200, 100, Qos::kBestEffort}},
                                   "sharing;checkpoints(gb=10)")));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  for (int job = 0; job < 4; ++job) decision.Start(job, 0);
  decision.wake_at = 100.0;
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().rate[3] == 0.0);
  REQUIRE(sim.AdvanceToDecision());
  decision.Clear();
  for (int job = 0; job < 4; ++job) decision.Stop(job);
  decision.wake_at = 101.0;
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().steps_done[3] == 0.0);
  REQUIRE(sim.AdvanceToDecision());
  decision.Clear();
  decision.Start(3, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  CHECK(DoneAt(sim, 3) == Approx(201.0));
}

TEST_CASE("gpu shares: time slices cost what the scenario says") {
  // Two guaranteed halves, slices of 9 s and switches of 1 s: each makes 0.5 x 2 x 0.9 = 0.9 steps/s while
  // there are two, then 1. 18 steps: done at 20. The other has 18 of 28, and ends 10 s later.
  Simulator sim(Scenario(PartsData(1, {{0, 18, 500}, {0, 28, 500}}, "sharing(quantum_s=9,switch_s=1)")));
  RunAll(sim);
  CHECK(DoneAt(sim, 0) == Approx(20.0).epsilon(1e-12));
  CHECK(DoneAt(sim, 1) == Approx(30.0).epsilon(1e-12));
}

TEST_CASE("gpu shares: a share suffices where the scenario says so") {
  // The table's 2 steps/s are what a share gives.
  Simulator sim(Scenario(PartsData(1, {{0, 20, 300}, {0, 20, 700}}, "sharing(share_suffices=true)")));
  RunAll(sim);
  CHECK(DoneAt(sim, 0) == 10.0);
  CHECK(DoneAt(sim, 1) == 10.0);
}

TEST_CASE("gpu shares: measured pairs of one class") {
  // Beside each other jobs make 1.5 steps/s, measured: more than half of 2. Guaranteed ones keep to shares.
  for (const auto& [qos, rate] :
       std::map<Qos, double>{{Qos::kGuaranteed, 1.0}, {Qos::kBurstable, 1.5}, {Qos::kBestEffort, 1.5}}) {
    ScenarioData data = PartsData(1, {{0, 30, 500, qos}, {0, 30, 500, qos}}, "sharing");
    data.throughputs.pairs = {1.5, 1.5};
    Simulator sim{Scenario(data)};
    RunAll(sim);
    CHECK(DoneAt(sim, 0) == Approx(30.0 / rate));
  }
}

TEST_CASE("gpu shares: a part goes to the tightest GPU in use, then to an idle one") {
  Simulator sim(Scenario(
      PartsData(3, {{0, 99, 600}, {0, 99, 700}, {0, 99, 300}, {0, 99, 500}, {0, 99, 1000}}, "sharing")));
  REQUIRE(sim.AdvanceToDecision());
  const auto start = [&](int job, std::vector<int> on) {
    Decision decision;
    decision.Start(job, 0, on);
    return sim.Apply(decision).rule;
  };
  REQUIRE(start(0, {}) == Rule::kNone);   // GPU 0: 400 left
  REQUIRE(start(1, {1}) == Rule::kNone);  // GPU 1: 300 left
  REQUIRE(start(2, {}) == Rule::kNone);   // fits on both, tighter on GPU 1
  CHECK(sim.state().Devices(2).front() == 1);
  CHECK(start(3, {0}) == Rule::kDeviceBusy);
  CHECK(start(4, {0}) == Rule::kDeviceBusy);
  REQUIRE(start(3, {}) == Rule::kNone);
  CHECK(sim.state().Devices(3).front() == 2);
  CHECK(sim.state().free_gpus[0] == 0);
  CHECK(start(4, {}) == Rule::kNoRoom);
  const ClusterView view = sim.View(Knowledge::kNone);
  CHECK(FreeMilli(view, 0) == 400);
  CHECK(FreeMilli(view, 1) == 0);
  // One that leaves and one that comes, in one decision and whatever the order of its commands.
  Decision decision;
  decision.Start(4, 0), decision.Stop(0);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().Devices(4).front() == 0);
  REQUIRE(CheckInvariants(sim) == "");
}

TEST_CASE("gpu shares: a part of one GPU may say how wide it could be, and runs on one") {
  for (const char* features : {"sharing", "sharing;elasticity"}) {
    CAPTURE(features);
    ScenarioData data = PartsData(2, {{0, 30, 500}}, features);
    data.jobs.gang_min = {1}, data.jobs.gang_max = {2};
    const Scenario scenario{std::move(data)};
    CHECK(scenario.MaxGang(0) == 1);
    Simulator sim(scenario);
    RunAll(sim);
    CHECK(DoneAt(sim, 0) == Approx(30.0));
  }
}

TEST_CASE("gpu shares: bad input is one clear line") {
  CHECK(ErrorOf(PartsData(2, {{0, 9, 1001}}, "sharing")).find("gpu_milli: expected 1 to 1000, found 1001") !=
        std::string::npos);
  CHECK(ErrorOf(PartsData(2, {{0, 9, 500, Qos::kGuaranteed, 2}}, "sharing"))
            .find("500 thousandths of each of 2 GPUs") != std::string::npos);
  CHECK(ErrorOf(PartsData(2, {{0, 9, 500}}, "sharing(switch_s=1)")).find("quantum_s=0") != std::string::npos);
  CHECK(ErrorOf(PartsData(2, {{0, 9, 500}}, "sharing", "hpc")).find("clock") != std::string::npos);
  CHECK_THROWS_AS(ParseFeatures("sharing(quantum=1)"), Error);
}

TEST_CASE("gpu shares: what may not be is reported") {
  Simulator sim(Scenario(PartsData(2, {{0, 99, 600}, {0, 99, 400}, {0, 99, 1000}}, "sharing")));
  REQUIRE(sim.AdvanceToDecision());
  StartAll(sim);
  const auto rule_of = [&](const std::function<void(SimState&)>& spoil) {
    test::Frame frame(sim);
    spoil(frame.state);
    const std::string found = CheckInvariants(frame.Invariant(sim.scenario()));
    return found.substr(0, found.find(':'));
  };
  CHECK(rule_of([](SimState&) {}) == "");
  CHECK(rule_of([](SimState& s) { s.rate[0] *= 0.99; }) == "rates");
  test::Frame slow(sim);
  slow.state.rate[0] *= 0.99;
  CHECK_FALSE(slow.state.features.Find<SharingState>()->Violation(slow.Invariant(sim.scenario())).empty());
  CHECK(rule_of([](SimState& s) { s.device_milli[0] = 100; }) == "capacity");
  CHECK(rule_of([](SimState& s) { s.parts[0].push_back(0); }) == "capacity");
  CHECK(rule_of([](SimState& s) { s.features.Find<SharingState>()->meters[0].extra_s += 5.0; }) ==
        "GPU-seconds");
}

// 600 thousandths are promised where a replica would have half of the GPU.
TEST_CASE("gpu shares: no replica where more is promised than it leaves") {
  Simulator sim(Scenario(
      PartsData(1, {{0, 99, 600, Qos::kGuaranteed}}, "sharing;services(rate_per_s=1,replicas=0,share=0.5)")));
  REQUIRE(sim.AdvanceToDecision());
  StartAll(sim);
  test::Frame frame(sim);
  CHECK(CheckInvariants(frame.Invariant(sim.scenario())) == "");
  frame.state.features.Find<ServiceState>()->replica_of[0] = 0;
  CHECK_THAT(CheckInvariants(frame.Invariant(sim.scenario())), Catch::StartsWith("sharing: "));
}

namespace {

// The second simulator: one GPU type, all jobs parts; first come, first served onto the fullest GPU with
// room. Rates are found by giving out compute in small drops instead of in closed form.
struct DropModel {
  double interference, alone;
  std::vector<Part> jobs;
  int gpus;

  std::vector<double> Rates(const std::vector<int>& on) const {
    std::vector<double> promised, given, rates;
    double left = 1.0;
    for (int j : on) {
      const double share = jobs[U(j)].milli / 1000.0;
      promised.push_back(jobs[U(j)].qos == Qos::kBestEffort ? 0.0 : share);
      left -= promised.back();
    }
    given = promised;
    constexpr int kDrops = 40'000;
    const double drop = left / kDrops;
    for (int i = 0; i < kDrops && left > 0.0; ++i) {
      // To the class first in line that can use more, to who has least of what was left for his share.
      int to = -1;
      for (const Qos qos : {Qos::kBurstable, Qos::kBestEffort}) {
        for (std::size_t k = 0; k < on.size() && to < 0; ++k) {
          if (jobs[U(on[k])].qos != qos || given[k] >= 1.0) continue;
          int best = static_cast<int>(k);
          for (std::size_t m = k + 1; m < on.size(); ++m) {
            if (jobs[U(on[m])].qos != qos || given[m] >= 1.0) continue;
            const auto per_share = [&](std::size_t x) {
              return (given[x] - promised[x]) / jobs[U(on[x])].milli;
            };
            if (per_share(m) < per_share(U(best))) best = static_cast<int>(m);
          }
          to = best;
        }
      }
      if (to < 0) break;
      given[U(to)] += drop;
    }
    const double slowdown = 1.0 + interference * (static_cast<double>(on.size()) - 1.0);
    for (std::size_t k = 0; k < on.size(); ++k)
      rates.push_back(alone * (promised[k] + (given[k] - promised[k]) / slowdown));
    return rates;
  }

  std::vector<double> Completions() const {
    std::vector<double> left, done(jobs.size(), -1.0);
    for (const Part& part : jobs) left.push_back(part.steps);
    std::vector<std::vector<int>> on(U(gpus));
    std::vector<int> waiting;
    std::size_t next = 0;
    double now = 0.0;
    for (;;) {
      for (std::size_t w = 0; w < waiting.size();) {
        int best = -1, best_room = 1001;
        for (int g = 0; g < gpus; ++g) {
          int room = 1000;
          for (int j : on[U(g)]) room -= jobs[U(j)].milli;
          if (room >= jobs[U(waiting[w])].milli && room < best_room) best = g, best_room = room;
        }
        if (best < 0) {
          ++w;
          continue;
        }
        on[U(best)].push_back(waiting[w]);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(w));
      }
      double until = next < jobs.size() ? jobs[next].arrival : kNever;
      std::vector<double> rate(jobs.size(), 0.0);
      for (const auto& gpu : on) {
        const std::vector<double> rates = Rates(gpu);
        for (std::size_t k = 0; k < gpu.size(); ++k) {
          rate[U(gpu[k])] = rates[k];
          if (rates[k] > 0.0) until = std::min(until, now + left[U(gpu[k])] / rates[k]);
        }
      }
      if (until == kNever) return done;
      for (auto& gpu : on) {
        std::erase_if(gpu, [&](int j) {
          left[U(j)] -= rate[U(j)] * (until - now);
          if (left[U(j)] > 1e-9) return false;
          done[U(j)] = until;
          return true;
        });
      }
      now = until;
      while (next < jobs.size() && jobs[next].arrival <= now) waiting.push_back(static_cast<int>(next++));
    }
  }
};

}  // namespace

TEST_CASE("gpu shares: the simulator and one that gives out compute in drops agree") {
  Stream random(3, Purpose::kTest);
  for (int trial = 0; trial < 8; ++trial) {
    CAPTURE(trial);
    DropModel model{trial % 2 == 0 ? 0.0 : 0.3, 2.0, {}, 2};
    double at = 0.0;
    for (int j = 0; j < 10; ++j) {
      at += std::floor(random.Exponential(8.0)) + 0.5;
      model.jobs.push_back({at, 5.0 + random.Below(50), 100 * (1 + static_cast<int>(random.Below(9))),
                            static_cast<Qos>(random.Below(3))});
    }
    Simulator sim(Scenario(PartsData(2, model.jobs, Join("sharing(interference=", model.interference, ")"))));
    RunAll(sim);
    const std::vector<double> expected = model.Completions();
    for (int j = 0; j < 10; ++j) {
      CAPTURE(j);
      CHECK(DoneAt(sim, j) == Approx(expected[U(j)]).epsilon(1e-3));  // a drop is 1/40,000 of a GPU
    }
  }
}

TEST_CASE("gpu shares: books hold under stops, moves, failures and both clocks") {
  Stream random(9, Purpose::kTest);
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<Part> parts;
    double at = 0.0;
    for (int j = 0; j < 25; ++j) {
      at += std::floor(random.Exponential(6.0));
      const bool whole = random.Below(4) == 0;
      parts.push_back({at, 5.0 + random.Below(80),
                       whole ? 1000 : 100 * (1 + static_cast<int>(random.Below(9))),
                       static_cast<Qos>(random.Below(3)), whole && random.Below(2) == 0 ? 2 : 1});
    }
    const bool rounds = trial % 2 == 1;
    // Who watches from outside cannot follow what fails within a round.
    const std::string failures = rounds ? "" : ";failures(mtbf_h=0.05,repair_h=0.01)";
    Simulator sim(Scenario(
        PartsData(4, parts, "sharing(quantum_s=5,switch_s=0.5)" + failures, rounds ? "rounds(7)" : "event")));
    Auditor auditor;
    int decisions = 0;
    while (decisions < 3000 && sim.AdvanceToDecision()) {
      ++decisions;
      REQUIRE(test::Observe(auditor, sim) == "");
      std::vector<int> running(sim.state().running.begin(), sim.state().running.end());
      if (!running.empty() && random.Below(3) == 0) {
        const int job = running[random.Below(static_cast<std::uint32_t>(running.size()))];
        Decision decision;
        random.Below(2) == 0 ? decision.Stop(job) : decision.Move(job, 0);
        (void)sim.Apply(decision);  // a move may find no room
        REQUIRE(test::Observe(auditor, sim) == "");
      }
      StartAll(sim);
      REQUIRE(test::Observe(auditor, sim) == "");
      CHECK(ShareSeconds(sim.core(), 0) <= sim.BusySeconds(0) + 1e-6);
    }
    CHECK(decisions > 20);
    CHECK(sim.finished());
  }
}

TEST_CASE("sharing: the demand that is not served, by hand") {
  // One GPU. A whole job runs from 0 to 10; half a GPU is asked for from 4 on and had from 10 to 13.
  const Scenario scenario(
      PartsData(1, {{0, 20, 1000}, {4, 6, 500}}, "sharing(share_suffices=true)"));
  Simulator sim(scenario);
  while (sim.AdvanceToDecision()) StartAll(sim);
  REQUIRE(DoneAt(sim, 0) == 10.0);
  REQUIRE(DoneAt(sim, 1) == 13.0);
  CHECK(Measure(sim, {}).Of("unserved_demand") == Approx(0.5 * 6.0 / (10.0 + 0.5 * 9.0)));
}

}  // namespace berth
