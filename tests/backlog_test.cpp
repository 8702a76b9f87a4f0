// What a run leaves undone while jobs arrive, and the rule by which a cluster does not keep up.
#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

Scenario EveryTen(double apart) {
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back({apart * i, 10.0});
  return test::Tiny({{"a", 1}}, {{1.0}}, jobs);
}

// One-GPU jobs of about an hour on four GPUs, so many that `load` of them is busy.
Scenario Poisson(double load, std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 1000; ++i) {
    jobs.push_back({now, stream.Exponential(3600.0) + 1.0});
    now += stream.Exponential(3600.0 / (4.0 * load));
  }
  return test::Tiny({{"a", 4}}, {{1.0}}, jobs);
}

// As in starvation_test: a stream of one-GPU jobs of an hour, 20 min apart, and every 20 h a gang of four for
// three hours. Work for 0.9 of four GPUs.
Scenario Gangs() {
  std::vector<test::TinyJob> jobs;
  Stream stream(7, Purpose::kTest);
  for (int i = 0; i < 1200; ++i) {
    jobs.push_back({1200.0 * i + stream.Uniform(0.0, 90.0), 3600.0});
    if (i % 60 == 59) jobs.push_back({1200.0 * i + 100.0, 10800.0, 0, 4});
  }
  return test::Tiny({{"a", 4}}, {{1.0}}, jobs);
}

std::vector<double> Growth(const std::string& scheduler, double load) {
  std::vector<double> growth;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    growth.push_back(Run(Poisson(load, seed), *test::Make(scheduler), scheduler,
                         {.window = {200, 800}, .keep_events = false, .progress = {}})
                         .metrics.backlog_growth);
  return growth;
}

}  // namespace

TEST_CASE("backlog: by hand", "[backlog]") {
  // Ten jobs of 10 s, 5 s apart, on one GPU: job j ends at 10 (j + 1).
  const Metrics m = test::RunOf("fcfs", EveryTen(5.0)).metrics;
  CHECK(m.mean_jct_s == 32.5);  // 10 + 5 j
  // When the last has come, at 45, jobs 4 to 9 are there, 4 with 5 s left.
  CHECK(m.backlog_jobs == 6.0);
  CHECK(m.backlog_gpu_h == 55.0 / 3600.0);
  // Late work: without a queue 8 had 5 s left at 45, and 9 its 10, so 55 - 15 is late. At 25, when job 5 has
  // come, 2 has 5 s left, 3 to 5 all; without a queue 4 had 5 and 5 had 10: 35 - 15. Jobs 6 to 9 bring 40.
  CHECK(m.backlog_growth == Approx((40.0 - 20.0) / 40.0));
  CHECK(m.open_at_end == 0.6);
  CHECK(m.censored_jct_s == 14.5);  // 10, 15, 20, 25 of those that are done; 25, 20, 15, 10, 5, 0

  const Metrics idle = test::RunOf("fcfs", EveryTen(20.0)).metrics;  // nobody waits
  CHECK(idle.backlog_jobs == 1.0);
  CHECK(idle.backlog_growth == 0.0);
  CHECK(idle.open_at_end == 0.1);     // the last arrives as arrivals end
  CHECK(idle.censored_jct_s == 9.0);  // 9 x 10, and 0
  CHECK(test::RunOf("fcfs", EveryTen(0.0)).metrics.backlog_growth == 0.0);  // all at once: no telling
}

TEST_CASE("backlog: a part of a GPU that suffices is that part of its time in work, by hand", "[backlog]") {
  // One GPU. At 0 come 7200 s of a quarter of it, which run, and 3600 s of all of it, which wait; at 900 again 3600 s of a quarter. Where
  // these are the seconds that the work takes a whole GPU, a quarter of it makes a quarter of the speed.
  for (const bool suffices : {true, false}) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 7200}, {0, 3600}, {900, 3600}});
    data.jobs.gpu_milli = {250, 1000, 250};
    const Scenario scenario = test::With(data, suffices ? "sharing(share_suffices=true)" : "sharing");
    CHECK(test::RunOf("fcfs", scenario).metrics.backlog_gpu_h ==
          Approx(suffices ? (6300.0 / 4 + 3600.0 + 900.0) / 3600.0 : (6975.0 + 3600.0 + 3600.0) / 3600.0));
  }
}

TEST_CASE("backlog: of the window, while others come before and after", "[backlog]") {
  const Metrics m = Run(EveryTen(5.0), *test::Make("fcfs"), "fcfs",
                        {.window = {2, 6}, .keep_events = false, .progress = {}})
                        .metrics;
  // When job 5 has come, at 25: 2 to 5. The middle one is 4, at 20, when 0 and 1 have ended: 30 left, of
  // which without a queue 3 had 5 and 4 had 10; at 25 it is 35 - 15. Job 5 brings 10.
  CHECK(m.backlog_jobs == 4.0);
  CHECK(m.backlog_growth == Approx((20.0 - 15.0) / 10.0));
  // Arrivals end at 45, when 2 and 3 are done (30, 40), 4 and 5 are not: 20, 25, 25, 20.
  CHECK(m.open_at_end == 0.5);
  CHECK(m.censored_jct_s == 22.5);
}

TEST_CASE("backlog: a job that is turned away is in the system until then, by hand", "[backlog]") {
  // Who finds the GPU busy goes at once, which are the odd ones: 10 s of 0, 2, 4 and 6, and 5 of 8 until 45.
  const Metrics m = test::RunOf("fcfs(queue_limit=0)", EveryTen(5.0)).metrics;
  REQUIRE(m.unfinished == 5);
  CHECK(m.censored_jct_s == 4.5);
  CHECK(m.open_at_end == 0.6);  // 8, and those that are never done

  // Two arrive at 0 and 5, the last at 40; the second is turned away at 10, when the first is done.
  Simulator simulator(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {5, 10}, {40, 10}}));
  Decision decision;
  const auto decide = [&](Command command) {
    REQUIRE(simulator.AdvanceToDecision());
    decision.Clear();
    decision.commands.push_back(command);
    REQUIRE(simulator.Apply(decision).ok());
  };
  decide({CommandKind::kStart, 0, 0});
  REQUIRE(simulator.AdvanceToDecision());  // 5
  decide({CommandKind::kReject, 1});
  CHECK(simulator.LeftAt(0) == 10.0);
  CHECK(simulator.LeftAt(1) == 10.0);
  CHECK(simulator.LeftAt(2) == kNever);
  decide({CommandKind::kStart, 2, 0});
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(Measure(simulator, {}).censored_jct_s == 5.0);  // 10, 5, 0
}

TEST_CASE("backlog: what a run that is cut off leaves is not known, and not none", "[backlog]") {
  RunOptions options;
  options.max_time_s = 30.0;  // the first decision after it is at 35, when job 7 comes; 0, 1 and 2 are done
  const auto fcfs = test::Make("fcfs");
  ResultRow row{"fcfs", Knowledge::kNone, {Run(EveryTen(5.0), *fcfs, "fcfs", options)}};
  const Metrics m = row.runs[0].metrics;
  REQUIRE(m.end_s == 35.0);
  for (const double figure : {m.backlog_jobs, m.backlog_gpu_h, m.backlog_growth}) CHECK(std::isnan(figure));
  CHECK(m.open_at_end == 0.7);
  CHECK(m.censored_jct_s == (10.0 + 15.0 + 20.0 + 20.0 + 15.0 + 10.0 + 5.0 + 0.0) / 8.0);
  CHECK_FALSE(KeepsUp(std::vector<double>{m.backlog_growth}));
  CHECK(row.Unstable());

  options.max_time_s = 46.0;  // after the last, at 45, all is as in a run to the end
  row.runs.push_back(Run(EveryTen(5.0), *fcfs, "fcfs", options));
  const Metrics whole = row.runs[1].metrics;
  CHECK(whole.end_s == 50.0);
  CHECK(whole.backlog_jobs == 6.0);
  CHECK(whole.backlog_growth == Approx(0.5));
  CHECK(whole.censored_jct_s == 14.5);
  // Of both together neither.
  CHECK(std::isnan(row.Combined().backlog_jobs));
  CHECK(row.Unstable());

  options.window = {8, 10};  // nobody of them has come
  options.max_time_s = 30.0;
  const Metrics none = Run(EveryTen(5.0), *fcfs, "fcfs", options).metrics;
  CHECK(none.open_at_end == 1.0);
  CHECK(std::isnan(none.censored_jct_s));
}

TEST_CASE("backlog: jobs that wait for others count, and those at work within a round, by hand", "[backlog]") {
  // At 2 s, of three jobs of 10 s, each after the one before, 8 s are left of the first and 10 of each other.
  const ScenarioData chain = test::TinyData({{"a", 3}}, {{1.0}}, {{0, 10}, {1, 10}, {2, 10}});
  const Metrics m = test::RunOf("fcfs", test::With(chain, "stages(after=1>0:2>1)")).metrics;
  CHECK(m.backlog_jobs == 3.0);
  CHECK(m.backlog_gpu_h == 28.0 / 3600.0);
  // At 900 s, of two jobs of 3000 s, 2100 s are left of the first, whether or not a round is over then.
  const ScenarioData two = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 3000}, {900, 3000}});
  for (const char* clock : {"event", "rounds(1000)", "rounds(300)"}) {
    CAPTURE(clock);
    CHECK(test::RunOf("fcfs", test::With(two, "", clock)).metrics.backlog_gpu_h == 5100.0 / 3600.0);
  }
}

TEST_CASE("backlog: the rule", "[backlog]") {
  CHECK(KeepsUp({}));
  CHECK(KeepsUp(std::vector<double>{0.1}));
  CHECK_FALSE(KeepsUp(std::vector<double>{0.11}));
  CHECK(KeepsUp(std::vector<double>{0.04, 0.05, 0.05, 0.05}));
  CHECK_FALSE(KeepsUp(std::vector<double>{0.06, 0.07, 0.08}));
  CHECK(KeepsUp(std::vector<double>{0.4, -0.2, 0.3, -0.2}));  // 0.075, and as well by chance
}

TEST_CASE("backlog: a cluster keeps up below its capacity and not above, whoever schedules", "[backlog]") {
  for (const char* scheduler : {"fcfs", "srpt", "las"}) {
    CAPTURE(scheduler);
    CHECK(KeepsUp(Growth(scheduler, 0.6)));
    CHECK(KeepsUp(Growth(scheduler, 0.85)));
    CHECK_FALSE(KeepsUp(Growth(scheduler, 1.2)));
    CHECK_FALSE(KeepsUp(Growth(scheduler, 1.5)));
  }
}

TEST_CASE("backlog: who starves gangs does not keep up with a load that others carry", "[backlog]") {
  const Scenario scenario = Gangs();
  const Window window{300, scenario.num_jobs()};
  const Metrics srpt =
      Run(scenario, *test::Make("srpt"), "srpt", {.window = window, .keep_events = false, .progress = {}})
          .metrics;
  const Metrics fcfs =
      Run(scenario, *test::Make("fcfs"), "fcfs", {.window = window, .keep_events = false, .progress = {}})
          .metrics;
  CHECK(srpt.backlog_jobs < 25.0);  // few: what it puts off is large
  CHECK_FALSE(KeepsUp(std::vector<double>{srpt.backlog_growth}));
  CHECK(KeepsUp(std::vector<double>{fcfs.backlog_growth}));
}

}  // namespace berth
