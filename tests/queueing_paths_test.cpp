// What holds on every path, not only on average: completions by recursions over the jobs, work by Lindley's,
// and Little's law on every run of every scheduler.
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::Make;
Scenario Queue(const std::string& spec, const std::string& cluster, std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  return MakeWorkload(spec, settings)->Make(seed, Split::kEvaluate, 0, 0, 2000);
}

struct Path {
  std::vector<double> completion;
  std::vector<JobPhase> phase;
  std::vector<Event> events;
  double job_seconds = 0.0;
};

Path RunPath(const Scenario& scenario, const std::string& spec) {
  const auto scheduler = Make(spec);
  Simulator simulator(scenario, {.keep_events = true});
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    REQUIRE(simulator.Apply(decision).ok());
  }
  REQUIRE(simulator.finished());
  return {simulator.state().completion, simulator.state().phase, simulator.events(), simulator.JobSeconds()};
}

// First come, first served on c servers: a job starts when it has arrived and the earliest server is free
// (Kiefer & Wolfowitz 1955; Lindley 1952 for c = 1). Lost, kNever, when `limit` others wait at its arrival.
std::vector<double> KieferWolfowitz(const JobTable& jobs, int servers, std::size_t limit) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at, starts;
  for (int s = 0; s < servers; ++s) free_at.push(0.0);
  std::vector<double> completion;
  for (std::size_t j = 0; j < jobs.arrival.size(); ++j) {
    while (!starts.empty() && starts.top() <= jobs.arrival[j]) starts.pop();
    const double start = std::max(jobs.arrival[j], free_at.top());
    if (start > jobs.arrival[j] && starts.size() >= limit) {
      completion.push_back(kNever);
      continue;
    }
    starts.push(start);
    free_at.pop();
    free_at.push(start + jobs.total_steps[j]);
    completion.push_back(start + jobs.total_steps[j]);
  }
  return completion;
}

}  // namespace

TEST_CASE("queueing paths: first come, first served is Kiefer and Wolfowitz's recursion", "[queueing]") {
  struct Case {
    const char* workload;
    const char* cluster;
    int servers;
    const char* scheduler;
    std::size_t limit;
  };
  const Case cases[] = {
      {"queueing(rate=0.9)", "v100=1", 1, "fcfs", 2000},
      {"queueing(rate=3.6,sizes=bounded_pareto)", "v100=3,k80=1", 4, "fcfs", 2000},
      {"queueing(rate=2,arrivals=mmpp,sizes=lognormal)", "v100=3", 3, "fcfs(queue_limit=4)", 4},
      {"queueing(rate=3,arrivals=diurnal,sizes=hyperexponential)", "v100=3", 3, "fcfs(queue_limit=0)", 0},
      {"queueing(rate=3.5)", "v100=4", 4, "easy", 2000},  // jobs of one GPU: nothing to backfill
      {"queueing(rate=3.5)", "v100=4", 4, "conservative", 2000},
  };
  for (const Case& c : cases) {
    for (std::uint64_t seed : {1, 2}) {
      CAPTURE(c.workload, c.scheduler, seed);
      const Scenario scenario = Queue(c.workload, c.cluster, seed);
      const std::vector<double> expected = KieferWolfowitz(scenario.data().jobs, c.servers, c.limit);
      const Path path = RunPath(scenario, c.scheduler);
      int lost = 0;
      for (std::size_t j = 0; j < expected.size(); ++j) {
        lost += path.phase[j] == JobPhase::kRejected;
        // The same sums in the same order, so the same bits.
        REQUIRE(path.completion[j] == expected[j]);
      }
      CHECK((lost > 0) == (c.limit < 2000));
    }
  }
}

TEST_CASE("queueing paths: the last to leave a busy period leaves when Lindley's work runs out",
          "[queueing]") {
  // Work in system does not depend on the order of service, so neither do the ends of busy periods.
  const Scenario scenario = Queue("queueing(rate=0.8,classes=5:0.3;1:0.7)", "v100=1", 3);
  const JobTable& jobs = scenario.data().jobs;
  std::vector<double> ends;
  double busy_until = 0.0;
  for (std::size_t j = 0; j < jobs.arrival.size(); ++j) {
    if (jobs.arrival[j] >= busy_until) {
      if (j > 0) ends.push_back(busy_until);
      busy_until = jobs.arrival[j];
    }
    busy_until += jobs.total_steps[j];
  }
  ends.push_back(busy_until);
  for (const char* spec : {"fcfs", "sjf", "srpt", "priority", "priority(preemptive=true)", "random", "las"}) {
    CAPTURE(spec);
    const Path path = RunPath(scenario, spec);
    std::vector<double> idle;  // when nobody is left
    int in_system = 0;
    for (const Event& event : path.events) {
      in_system += event.kind == EventKind::kArrive;
      in_system -= event.kind == EventKind::kComplete;
      if (event.kind == EventKind::kComplete && in_system == 0) idle.push_back(event.time);
    }
    REQUIRE(idle.size() == ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) REQUIRE(idle[i] == Approx(ends[i]).epsilon(1e-11));
  }
}

TEST_CASE("queueing paths: least attained service holds equal jobs back to the end of their busy period",
          "[queueing]") {
  // Equal sizes D, looked at every `slice`: who completes had least service a slice ago, so all others have D
  // less a slice at least, and the work left is at most a slice for each. Work is Lindley's, whatever the
  // rule.
  constexpr double kSlice = 36.0;
  const Scenario scenario = Queue("queueing(rate=0.8,sizes=deterministic)", "v100=1", 4);
  const JobTable& jobs = scenario.data().jobs;
  const auto most_left = [&](const std::string& spec) {
    const Path path = RunPath(scenario, spec);
    double work = 0.0, last = 0.0, worst = 0.0;
    int in_system = 0;
    for (const Event& event : path.events) {
      if (event.kind != EventKind::kArrive && event.kind != EventKind::kComplete) continue;
      work = std::max(0.0, work - (event.time - last));
      last = event.time;
      if (event.kind == EventKind::kArrive) {
        ++in_system;
        work += jobs.total_steps[static_cast<std::size_t>(event.job)];
      } else if (--in_system > 0) {
        worst = std::max(worst, work / in_system);
      }
    }
    return worst;
  };
  CHECK(most_left("las(quantum=0,slice=36)") <= kSlice * (1 + 1e-9));
  CHECK(most_left("fcfs") > 10 * kSlice);  // the bound is not met by chance
}

TEST_CASE("queueing paths: Little's law on every run of every scheduler", "[queueing]") {
  // The integral of jobs in system, swept over the log, is the sum of the jobs' times in system, taken job by
  // job.
  const auto check = [](const Scenario& scenario, const std::string& spec) {
    const Path path = RunPath(scenario, spec);
    std::vector<std::pair<double, int>> steps;  // (time, change)
    std::map<int, double> arrived;
    double sojourns = 0.0;
    for (const Event& event : path.events) {
      if (event.kind == EventKind::kArrive) {
        steps.emplace_back(event.time, 1);
        arrived[event.job] = event.time;
      } else if (event.kind == EventKind::kComplete || event.kind == EventKind::kReject) {
        steps.emplace_back(event.time, -1);
        sojourns += event.time - arrived.at(event.job);
        arrived.erase(event.job);
      }
    }
    REQUIRE(arrived.empty());
    REQUIRE(steps.size() == 2 * static_cast<std::size_t>(scenario.num_jobs()));
    std::stable_sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.first < b.first; });
    double integral = 0.0, last = 0.0;
    int in_system = 0;
    for (const auto& [time, change] : steps) {
      integral += in_system * (time - last);
      last = time;
      in_system += change;
      REQUIRE(in_system >= 0);
    }
    CHECK(integral == Approx(sojourns).epsilon(1e-12));
    CHECK(path.job_seconds == Approx(sojourns).epsilon(1e-12));
  };
  std::vector<std::string> specs = {"priority(preemptive=true)", "fcfs(queue_limit=2)"};
  for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  for (const std::string& spec : specs) {
    for (const Clock& clock : test::AllClocks()) {
      for (std::uint64_t seed : {21, 22}) {
        CAPTURE(spec, clock.ToString(), seed);
        check(test::RandomScenario(seed, 40, clock), spec);
      }
    }
  }
  int objectives = 0;
  for (const std::string& spec : test::GavelSpecs()) {
    CAPTURE(spec);
    ScenarioData data = test::RandomScenario(23, 25, {ClockKind::kRounds, 60.0}).data();
    if (spec.find("allox") != std::string::npos) data.jobs.gang.assign(25, 1);  // it places no gangs
    check(Scenario(std::move(data)), spec);
    ++objectives;
  }
  CHECK(objectives > 20);
}

}  // namespace berth
