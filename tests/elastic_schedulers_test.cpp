// Schedulers of elastic gangs and of GPUs that will leave: by exhaustive search, against one fast machine, by
// hand.
#include <algorithm>
#include <functional>
#include <map>

#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::With;

// Completion times, every decision legal and the state sound after it. (The auditor would have to look at
// every save and failure, not at decisions alone.)
std::vector<double> Completions(const std::string& spec, const Scenario& scenario) {
  Simulator sim(scenario);
  const auto scheduler = test::Make(spec);
  scheduler->Reset(sim.View(scheduler->knowledge()));
  Decision decision;
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    const ApplyResult applied = sim.Apply(decision);
    INFO(Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    REQUIRE(CheckInvariants(sim) == "");
  }
  REQUIRE(sim.finished());
  return sim.state().completion;
}

}  // namespace

// Up to 4 jobs at 0 on up to 9 GPUs, Amdahl's law: the sum of remaining times of all allocations that give
// everybody a GPU.
TEST_CASE("optimus: no allocation has a smaller sum of remaining times, by exhaustive search") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    Stream draw(seed, Purpose::kTest);
    const int count = 1 + static_cast<int>(draw.Below(4)), gpus = count + static_cast<int>(draw.Below(6));
    std::vector<test::TinyJob> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back({0, 10.0 + 500.0 * draw.Uniform()});
    const Scenario scenario =
        With(test::TinyData({{"v100", gpus}}, {{1.0}}, jobs),
             Join("elasticity(min_factor=0,max_factor=100,measured=false,scaling=amdahl,parallel=",
                  0.5 + 0.5 * draw.Uniform(), ")"));
    const auto sum = [&](const std::vector<int>& widths) {
      double seconds = 0.0;
      for (std::size_t j = 0; j < widths.size(); ++j)
        seconds += jobs[j].steps / scenario.RateAt(static_cast<int>(j), 0, widths[j]);
      return seconds;
    };
    double best = kNever;
    std::vector<int> widths(jobs.size(), 1);
    const std::function<void(std::size_t, int)> search = [&](std::size_t job, int left) {
      if (job == widths.size()) {
        best = std::min(best, sum(widths));
        return;
      }
      const int others = static_cast<int>(widths.size() - job) - 1;
      for (int width = 1; width <= left - others; ++width) widths[job] = width, search(job + 1, left - width);
    };
    search(0, gpus);
    INFO("seed " << seed);
    CHECK(sum(test::FirstWidths("optimus", scenario)) == Approx(best).epsilon(1e-12));
  }
}

// 6 GPUs, speed-ups 1, 1.7 (2), 2.6 (3), 3.5 (4). A has 100 s left on one, B 35 s. Everybody one; gains a
// GPU: A 1 to 2: 100 - 58.8 = 41.2, to 4: (100 - 28.57) / 3 = 23.8; so A 2. Then A 2 to 3: 20.4, 2 to 4:
// (58.82 - 28.57) / 2 = 15.1; B 1 to 2: 14.4. A 3. A 3 to 4: 38.46 - 28.57 = 9.9; B: 14.4. B 2. A 4: 9.9; B 2
// to 3: 7.1.
TEST_CASE("optimus: marginal gains by hand") {
  const Scenario scenario = With(test::TinyData({{"v100", 6}}, {{1.0}}, {{0, 100}, {0, 35}}),
                                 "elasticity(min_factor=0,max_factor=8,measured=false)");
  CHECK(test::FirstWidths("optimus", scenario) == std::vector<int>{4, 2});
}

// Between allocations a job starts on its least, and is widened at the next: A (0 s) has all 4 GPUs until
// 600; B (100 s) finds none idle. At 600: linear speed-ups, A has 10000 - 2400 left, B 1000: everybody one, A
// gains 7600 / 2 for its second, 7600 / 6 for its third; B 500 for its second. A 3, B 1.
TEST_CASE("optimus: allocates at its interval") {
  const Scenario scenario =
      With(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 10000}, {100, 1000}}),
           "elasticity(min_factor=0,max_factor=8,measured=false,scaling=linear,resize_s=0)");
  Simulator sim(scenario);
  const auto scheduler = test::Make("optimus");
  scheduler->Reset(sim.View(scheduler->knowledge()));
  Decision decision;
  while (sim.now() < 600.0) {
    REQUIRE(sim.AdvanceToDecision());
    decision.Clear();
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    REQUIRE(sim.Apply(decision).ok());
    CHECK(sim.state().Width(0) == (sim.now() < 600.0 ? 4 : 3));
  }
  CHECK(sim.now() == 600.0);
  CHECK(sim.state().Width(1) == 1);
}

// Linear speed-ups: all GPUs are one fast machine, and the shortest remaining time is optimal there. The
// machine is played through by its own loop.
TEST_CASE("elastic_srpt: with linear speed-ups it is SRPT on one fast machine") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 12; ++i) {
      jobs.push_back({now, 50.0 + 500.0 * draw.Uniform(), 0, 1 << draw.Below(3)});
      now += 40.0 * draw.Uniform();
    }
    ScenarioData data = test::TinyData({{"v100", 8}}, {{1.0}}, jobs);
    data.throughputs.alone = {1.0, 2.0, 4.0};
    const Scenario scenario =
        With(data, "elasticity(min_factor=0,max_factor=100,measured=false,scaling=linear,resize_s=0)");
    std::vector<double> left, expected(jobs.size(), 0.0);
    for (const test::TinyJob& job : jobs) left.push_back(job.steps / 8.0);
    double t = 0.0;
    for (std::size_t done = 0; done < jobs.size();) {
      double arrival = kNever;
      std::size_t first = jobs.size();
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (left[j] <= 0.0) continue;
        if (jobs[j].arrival > t) {
          arrival = std::min(arrival, jobs[j].arrival);
        } else if (first == jobs.size() || left[j] < left[first]) {
          first = j;
        }
      }
      if (first == jobs.size()) {
        t = arrival;
      } else if (t + left[first] <= arrival) {
        t = expected[first] = t + left[first], left[first] = 0.0, ++done;
      } else {
        left[first] -= arrival - t, t = arrival;
      }
    }
    const std::vector<double> completions = Completions("elastic_srpt", scenario);
    for (std::size_t j = 0; j < jobs.size(); ++j) CHECK(completions[j] == Approx(expected[j]));
  }
}

// 8 GPUs, three jobs: 3, 3 and 2, the earlier ones first. With a job that may have 2 at most: 2, 3, 3.
TEST_CASE("equal_share: equal shares by hand") {
  ScenarioData data = test::TinyData({{"v100", 8}}, {{1.0}}, {{0, 100}, {0, 100}, {0, 100}});
  const std::string linear = "elasticity(min_factor=0,max_factor=8,measured=false,scaling=linear,resize_s=0)";
  CHECK(test::FirstWidths("equal_share", With(data, linear)) == std::vector<int>{3, 3, 2});
  data.jobs.gang_min = {1, 1, 1}, data.jobs.gang_max = {2, 8, 8};
  CHECK(test::FirstWidths("equal_share", With(data, linear)) == std::vector<int>{2, 3, 3});
  // Two jobs of 80 and 160 steps on 8 GPUs: 4 each until 20, then the second has all: 20 + 80 / 8 = 30.
  const Scenario two = With(test::TinyData({{"v100", 8}}, {{1.0}}, {{0, 80}, {0, 160}}), linear);
  CHECK(Completions("equal_share", two) == std::vector<double>{20, 30});
}

// Rigid jobs, random failures, all schedulers: what they decide is legal and everything ends.
TEST_CASE("elastic schedulers: legal and live whatever is on") {
  for (const char* spec : {"optimus", "optimus(interval=0)", "elastic_srpt", "equal_share"}) {
    for (const char* features :
         {"", "elasticity(min_factor=0,measured=false)",
          "elasticity(measured=false);failures(mtbf_h=0.2,repair_h=0.02,node_mtbf_h=1,node_repair_h=0.1);"
          "checkpoints(interval=60,gb=3,shared=true)",
          "elasticity(measured=false);failures(mtbf_h=0.5,repair_h=0.02,spot_types=k80,spot_mtbf_h=0.5,"
          "spot_away_h=0.1);latency(seconds=15,cadence=both,period_s=60)"}) {
      for (const char* clock : {"event", "rounds(30)"}) {
        Stream draw(7, Purpose::kTest);
        std::vector<test::TinyJob> jobs;
        double now = 0.0;
        for (int i = 0; i < 15; ++i) {
          jobs.push_back(
              {now, 20.0 + 300.0 * draw.Uniform(), static_cast<int>(draw.Below(2)), 1 << draw.Below(3)});
          now += draw.Below(60);
        }
        ScenarioData data = test::TinyData({{"v100", 6}, {"k80", 4}}, {{2.0, 1.0}, {1.0, 0.5}}, jobs);
        data.clock = Clock::Parse(clock);
        INFO(spec << " " << features << " " << clock);
        for (double end : Completions(spec, With(data, features))) CHECK(end != kNever);
      }
    }
  }
}

// Three jobs of 40,000 GPU-seconds have 3, 3 and 2 of 8 GPUs. Two of the first one are to go at 60,000 s, which is told at 1,000 s: as wide
// as it is it takes one of the six others. The first two end at 13,333 s, and 13,333 GPU-seconds of the third are left for six: 15,556 s.
// optimus shares out anew as they go; none lasts longer.
TEST_CASE("elastic schedulers: a job on GPUs about to go stays as wide as it is") {
  const Scenario scenario = With(test::TinyData({{"a", 8}}, {{1.0}}, {{0, 20000, 0, 2}, {0, 20000, 0, 2}, {0, 20000, 0, 2}}),
                                 "elasticity(scaling=linear,measured=false,min_factor=0.5,max_factor=4,resize_s=0);"
                                 "failures(mtbf_h=0,events=60000:90000:gpu:a/0:59000|60000:90000:gpu:a/1:59000)");
  for (const char* spec : {"equal_share", "optimus_tuned", "optimus"}) {
    CAPTURE(spec);
    const std::vector<double> ends = Completions(spec, scenario);
    CHECK(*std::max_element(ends.begin(), ends.end()) < 15700.0);
    if (spec == std::string("optimus")) continue;
    CHECK(ends[0] == Approx(40000.0 / 3.0));
    CHECK(ends[1] == Approx(40000.0 / 3.0));
    CHECK(ends[2] == Approx(140000.0 / 9.0));
  }
}

// The only GPU is out from 30 to 50 s: the job starts anew at 50. With a notice of 10 s, too, it runs on until 30.
TEST_CASE("pollux: nothing is in service") {
  for (const char* spec : {"pollux", "pollux(search=genetic,generations=2)", "pollux(interval=0)"}) {
    for (const char* notice : {"", ":10"}) {
      CAPTURE(spec, notice);
      const Scenario scenario = With(test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 100}}),
                                     Join("failures(mtbf_h=0,events=30:50:gpu:v100/0", notice, ")"), "event");
      CHECK(Completions(spec, scenario) == std::vector<double>{150.0});
    }
  }
}

// Two GPUs; GPU 0 is announced at 60 to leave at 100 for good... A (300 steps) runs there from 0; GPU 1 is
// idle: at 99 A moves there, loses nothing and pays the move, 10 s: 109 + 201 = 310. With B on GPU 1 A stops
// at 99 and goes on when B ends, at 150, after as much: 160 + 201 = 361. Unprotected it starts anew at 100:
// 400.
TEST_CASE("evacuate: jobs leave in time, by hand") {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 300}});
  const std::string features =
      "failures(mtbf_h=0,events=100:1e9:gpu:v100/0:40);checkpoints(gb=5,write_gb_s=1,read_gb_s=1)";
  const auto first = [&](const std::string& spec) { return Completions(spec, With(data, features))[0]; };
  CHECK(first("evacuate(inner=fcfs)") == Approx(310.0));
  CHECK(first("fcfs") == Approx(400.0));
  data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 300}, {0, 150}});
  CHECK(first("evacuate(inner=fcfs)") == Approx(361.0));
  // Nothing is announced: the inner scheduler alone.
  const Scenario plain = With(data, "");
  CHECK(Completions("evacuate(inner=fcfs)", plain) == Completions("fcfs", plain));
}

// One of a gang's GPUs is to go at 3,000 s, which is told at 500 s; it leaves 600 s before. With the one idle GPU of its type the three that it
// keeps are enough; without, four of the other type are; without those it stops, and the pair of 100 s behind it has two of the three at once.
TEST_CASE("evacuate: on what a job keeps, on another type, or at once for who waits") {
  const auto check = [](int a, double rate, double first, double second) {
    CAPTURE(a, rate);
    const ScenarioData data =
        test::TinyData({{"a", a}, {"b", 4}}, {{1.0, rate}, {1.0, 0.0}}, {{0, 5000, 0, 4}, {10, 100, 1, 2}});
    const std::vector<double> ends = Completions("evacuate(inner=fcfs(overtake=true),margin=600)",
                                                 With(data, "failures(mtbf_h=0,events=3000:9000:gpu:a/0:2500)"));
    CHECK(ends[0] == Approx(first));
    CHECK(ends[1] == Approx(second));
  };
  check(5, 0.5, 5000.0, 5100.0);
  check(4, 0.5, 7600.0, 2500.0);
  check(4, 0.0, 11600.0, 2500.0);
}

}  // namespace berth
