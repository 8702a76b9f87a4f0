// Time sharing by hand, and against processor sharing and proportional shares, of which it is the discrete
// form.
#include <algorithm>
#include <cmath>

#include "env/base/rng.hpp"
#include "tests/a100s.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::Tiny;
using test::TinyData;
using test::TinyJob;

// Ends under egalitarian processor sharing on one server of speed 1: everybody present progresses at 1 / n.
std::vector<double> ProcessorSharing(const std::vector<TinyJob>& jobs) {
  std::vector<double> left, end(jobs.size(), kNever);
  for (const TinyJob& job : jobs) left.push_back(job.steps);
  double now = 0.0;
  for (std::size_t done = 0; done < jobs.size();) {
    double next = kNever, least = kNever;
    int present = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (end[i] < kNever) continue;
      if (jobs[i].arrival > now) {
        next = std::min(next, jobs[i].arrival - now);
      } else {
        ++present;
        least = std::min(least, left[i]);
      }
    }
    const double step = std::min(next, least * present);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (end[i] < kNever || jobs[i].arrival > now) continue;
      left[i] -= step / present;
      if (left[i] > 1e-12) continue;
      end[i] = now + step;
      ++done;
    }
    now += step;
  }
  return end;
}

// The largest distance of two lists of times.
double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

}  // namespace

TEST_CASE("round_robin: quanta by hand", "[baselines]") {
  // One GPU, jobs of 5 and 3 s, quantum 2: 0 has 0-2, 4-6, 7-8; 1 has 2-4, 6-7.
  CHECK(Decisions("round_robin(quantum=2)", Tiny({{"a", 1}}, {{1.0}}, {{0, 5}, {0, 3}})) ==
        Log{"0 start 0@0", "2 stop 0", "2 start 1@0", "4 stop 1", "4 start 0@0", "6 stop 0", "6 start 1@0",
            "7 start 0@0"});
  // A gang of 2 waits for nobody for ever: 0 and 1 take turns with it, whichever of their quanta ends when.
  // 0-2: 0 and 1. At 2 their turns end and the gang has 2-4, then again they.
  CHECK(
      Decisions("round_robin(quantum=2)",
                Tiny({{"a", 2}}, {{1.0}}, {{0, 3, 0, 1}, {0, 3, 0, 1}, {1, 2, 0, 2}})) ==
      Log{"0 start 0@0", "0 start 1@0", "2 stop 0", "2 stop 1", "2 start 2@0", "4 start 0@0", "4 start 1@0"});
}

TEST_CASE("round_robin: a turn pays its own restart, so that dear restarts do not eat all quanta",
          "[baselines]") {
  // Quantum 2, restore 5. 0-2: 0. 2-4: 1. 4-11: 0 restores for 5, works for 2, has 1 left. 11-17: 1 restores
  // 11-16 and ends at 17, 17-23: 0 restores and works its last second.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 5}, {0, 3}});
  data.costs.restore_s = 5.0;
  CHECK(Ends("round_robin(quantum=2)", Scenario(data)) == std::vector<double>{23.0, 17.0});
}

TEST_CASE("round_robin: short quanta give processor sharing", "[baselines]") {
  Stream stream(1, Purpose::kTest);
  std::vector<TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 60; ++i) {
    now += stream.Exponential(1.0);
    jobs.push_back({now, stream.Exponential(0.85)});
  }
  const Scenario scenario = Tiny({{"a", 1}}, {{1.0}}, jobs);
  const std::vector<double> sharing = ProcessorSharing(jobs);
  const double coarse = Distance(Ends("round_robin(quantum=0.2)", scenario), sharing);
  const double fine = Distance(Ends("round_robin(quantum=0.01)", scenario), sharing);
  // Nobody's service is off by more than a quantum for each job present (fewer than 20 here).
  CHECK(fine < 20 * 0.01);
  CHECK(fine < coarse / 4.0);
  CHECK(Distance(Ends("fcfs", scenario), sharing) > 10.0 * fine);
}

TEST_CASE("weighted_round_robin: service is in proportion to weights, within a quantum", "[baselines]") {
  // Waldspurger & Weihl 1995, §2.1: the relative error of any pair never exceeds one quantum. Weights 3:2:1.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 1000}, {0, 1000}, {0, 1000}});
  data.jobs.weight = {3.0, 2.0, 1.0};
  std::vector<double> service(3, 0.0);
  double since = 0.0;
  int running = -1, looks = 0;
  for (const Event& event : test::RunOf("weighted_round_robin(quantum=1)", Scenario(data)).events) {
    if (event.kind == EventKind::kComplete) break;
    if (event.kind == EventKind::kStop) service[static_cast<std::size_t>(event.job)] += event.time - since;
    if (event.kind != EventKind::kStart) continue;
    running = event.job;
    since = event.time;
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        const double share = data.jobs.weight[a] / (data.jobs.weight[a] + data.jobs.weight[b]);
        CHECK(std::abs(service[a] - share * (service[a] + service[b])) <= 1.0 + 1e-9);
      }
    }
    ++looks;
  }
  CHECK(running >= 0);
  CHECK(looks > 500);
  CHECK(service[0] > 900.0);
  CHECK(service[2] == Approx(service[0] / 3.0).margin(1.0));
  // Equal weights and quanta: round robin.
  const Scenario equal = Tiny({{"a", 2}}, {{1.0}}, {{0, 50}, {0, 30}, {1, 20}, {2, 70}, {40, 5}});
  CHECK(Ends("weighted_round_robin(quantum=10)", equal)[3] ==
        Approx(Ends("round_robin(quantum=10)", equal)[3]).margin(20.0));
}

TEST_CASE("weighted_round_robin: a turn is charged for the GPUs that were held", "[baselines]") {
  // Two GPUs, quantum 100. Job 0, a gang of 2, holds one of them until 100 (50 of its 400 steps), 1 the other; both are charged 100
  // GPU-seconds. 2 comes then and runs until 110. The gang queued up before 1, goes first and is charged 200 at 210; 1 ends at 250, the gang
  // at 500. Charged for its gang it would have waited at 110 until 1 ends.
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}}, {{0, 400, 0, 2}, {0, 150}, {100, 10}});
  data.features = ParseFeatures("elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0)");
  const std::unique_ptr<Scheduler> rule = test::Make("weighted_round_robin(quantum=100)");
  const Simulator fresh{Scenario(data)};
  rule->Reset(fresh.View(Knowledge::kBlind));
  const Simulator sim = test::Finish(data, [&](const Simulator& s, Decision& d) {
    d.Clear();
    rule->Decide(s.View(Knowledge::kBlind), d);
    if (s.now() > 0.0) return;
    d.Clear();
    d.StartAt(0, 0, 1);
    d.Start(1, 0);
  });
  CHECK(sim.state().completion == std::vector<double>{500.0, 250.0, 110.0});
}

TEST_CASE("gang_scheduling: Ousterhout's matrix by hand", "[baselines]") {
  // 4 GPUs, slice 10. Rows: {0: all 4}, {1: 2, 2: 2}, {3: 4}. Each job needs 15 s.
  // 0-10 row 0; 10-20 row 1; 20-30 row 2; 30-35 row 0 ends; its slice is over, so 35-40 row 1 ends both;
  // 40-45.
  CHECK(Decisions("gang_scheduling(slice=10)",
                  Tiny({{"a", 4}}, {{1.0}}, {{0, 15, 0, 4}, {0, 15, 0, 2}, {0, 15, 0, 2}, {0, 15, 0, 4}})) ==
        Log{"0 start 0@0", "10 stop 0", "10 start 1@0", "10 start 2@0", "20 stop 1", "20 stop 2",
            "20 start 3@0", "30 stop 3", "30 start 0@0", "35 start 1@0", "35 start 2@0", "40 start 3@0"});
  // Alternative selection: 2 GPUs, rows {0: 1 GPU, 1: 1}, {2: 1}. While row 1 is on, 0 runs on the other GPU.
  // 0-10: 0, 1. 10-20: 2 and, selected, 0, which has 20 s of 25 then. 20-25: 0 ends; row 2 is unified into
  // row 1.
  CHECK(Decisions("gang_scheduling(slice=10)",
                  Tiny({{"a", 2}}, {{1.0}}, {{0, 25, 0, 1}, {0, 25, 0, 1}, {0, 25, 0, 1}})) ==
        Log{"0 start 0@0", "0 start 1@0", "10 stop 1", "10 start 2@0", "20 stop 2", "20 start 1@0",
            "25 start 2@0"});
}

}  // namespace berth
