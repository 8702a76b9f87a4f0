// Stages of a step against hand-worked optima, dependencies against order, Johnson's rule against every
// order.
#include "env/features/stages/stages.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/features/stages/dependencies.hpp"
#include "env/features/stages/stage_times.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

RunResult RunOf(const Scenario& scenario, const std::string& spec) {
  const auto scheduler = MakeScheduler(spec, std::vector<SchedulerTable>{BaselineSchedulers()});
  return Run(scenario, *scheduler, spec, {});
}

using test::With;

TEST_CASE("stages pace a step as worked out by hand") {
  // A step: GPU 1 s, 16 core-seconds on 8 cores = 2 s, transfer 0.5 s. 100 steps.
  const auto jct = [](const std::string& rest) {
    const auto data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}});
    return RunOf(With(data, "stages(cpu_core_s=16,transfer_s=0.5,gpu_prep_s=1" + rest + ")"), "fcfs")
        .jct_s[0];
  };
  CHECK(jct("") == Approx(200.0));                           // the cores pace it
  CHECK(jct(",overlap=false") == Approx(350.0));             // 1 + 2 + 0.5
  CHECK(jct(",offload=1") == Approx(200.0));                 // all on the GPU: 1 + 1
  CHECK(jct(",offload=-1") == Approx(100.0 * 4.0 / 3.0));    // f = (2 - 1) / (2 + 1): both take 4/3 s
  CHECK(jct(",offload=-1,overlap=false") == Approx(250.0));  // the GPU does it in 1 s instead of 2
}

TEST_CASE("the best offload is the best of all") {
  Stream random(7, Purpose::kTest);
  for (int i = 0; i < 500; ++i) {
    const StageTimes times = {random.Uniform(0.1, 2), random.Uniform(0, 3), random.Uniform(0, 3),
                              random.Uniform(0, 2)};
    for (const bool overlap : {true, false}) {
      const double best = StepSeconds(times, overlap, BestOffload(times, overlap));
      for (int f = 0; f <= 100; ++f) REQUIRE(best <= StepSeconds(times, overlap, f / 100.0) + 1e-12);
    }
  }
}

TEST_CASE("a job waits for those it depends on, and its JCT counts from its arrival") {
  // Two GPUs: 1 and 2 need 0; 3 needs both. 10 + 20 (2 beside 1) + 5.
  for (const char* clock : {"event", "rounds(5)"}) {
    ScenarioData data =
        test::TinyData({{"a", 2}}, {{1.0}}, {{0, 10}, {0, 15}, {0, 20}, {0, 5}}, Clock::Parse(clock));
    Simulator sim(With(data, "stages(after=1>0:2>0:3>1:3>2)"));
    const auto fcfs = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
    fcfs->Reset(sim.View(Knowledge::kNone));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      fcfs->Decide(sim.View(Knowledge::kNone), decision);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
    }
    CHECK(sim.state().completion == std::vector<double>{10, 25, 30, 35});
    CHECK(sim.JobSeconds() == Approx(10 + 25 + 30 + 35));  // the integral is the sum of their times
  }
}

TEST_CASE("who depends on a job that is turned away is turned away") {
  Simulator sim(With(test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {5, 10}, {6, 3}}),
                     "stages(after=1>0:2>1)"));
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  decision.Reject(0);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().phase[1] == JobPhase::kRejected);
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    if (!sim.state().waiting.empty()) decision.Start(3, 0);
    REQUIRE(sim.Apply(decision).ok());
  }
  CHECK(sim.state().phase[2] == JobPhase::kRejected);
  CHECK(sim.state().completion[3] == 9.0);
  CHECK(sim.finished());
}

TEST_CASE("the critical path goes first") {
  // Two GPUs: a chain 0 -> 1 -> 2 of 10 each and two of 15 beside it. By rank 0 (30) and one of 15 first,
  // then 1, the other 15, 2: 30 s. In order of arrival 3 and 4 go first and the chain ends at 15 + 30 = 45.
  ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 15}, {0, 15}, {0, 10}, {0, 10}, {0, 10}});
  const Scenario scenario = With(data, "stages(after=3>2:4>3)");
  CHECK(RunOf(scenario, "fcfs").metrics.makespan_s == 45.0);
  CHECK(RunOf(scenario, "critical_path").metrics.makespan_s == 30.0);
}

// Four GPUs, busy until 10, 20 and 30 s but for one. At 1 s job 3, a gang of two of 100 s, comes first and can start at 10: job 4, of 90 s,
// may not take the idle GPU before, and starts on the next one, at 20. Job 5, of 9 s, ends in time and may.
TEST_CASE("critical_path: nobody takes GPUs that a job before it waits for") {
  const Scenario scenario =
      test::Tiny({{"a", 4}}, {{1.0}}, {{0, 10}, {0, 20}, {0, 30}, {1, 100, 0, 2}, {1, 90}, {1, 9}});
  CHECK(test::Ends("critical_path", scenario) == std::vector<double>{10, 20, 30, 110, 110, 10});
}

// 10 s on the fast GPU, 100 s on the slow one: the second job waits for the fast one, whether the first has it already or gets it in
// the same decision.
TEST_CASE("critical_path: jobs placed in the same decision count as busy") {
  const std::vector<std::pair<std::string, int>> types = {{"fast", 1}, {"slow", 1}};
  CHECK(test::Ends("critical_path", test::Tiny(types, {{10.0, 1.0}}, {{0, 100}, {0, 100}})) ==
        std::vector<double>{10, 20});
  CHECK(test::Ends("critical_path", test::Tiny(types, {{10.0, 1.0}}, {{0, 100}, {0.5, 100}, {0.5, 100}})) ==
        std::vector<double>{10, 20, 30});
  // 10 s on the fast one, 30 s on the slow one. The third ends at 30 s on either and takes the first type, so the fourth starts at once.
  CHECK(test::Ends("critical_path", test::Tiny(types, {{9.0, 3.0}}, {{0, 90}, {0, 90}, {0, 90}, {0, 90}})) ==
        std::vector<double>{10, 20, 30, 30});
}

// First stages on the one CPU, second ones on the one GPU.
Scenario FlowShop(const std::vector<double>& first, const std::vector<double>& second) {
  ScenarioData data;
  std::vector<test::TinyJob> jobs;
  std::string after;
  const int n = static_cast<int>(first.size());
  for (double steps : first) jobs.push_back({0, steps, 0});
  for (double steps : second) jobs.push_back({0, steps, 1});
  for (int i = 0; i < n; ++i) after += (i > 0 ? ":" : "") + std::to_string(n + i) + ">" + std::to_string(i);
  data = test::TinyData({{"cpu", 1}, {"gpu", 1}}, {{1.0, 0.0}, {0.0, 1.0}}, jobs);
  return With(data, "stages(after=" + after + ")");
}

TEST_CASE("Johnson's order has the least makespan of all orders") {
  Stream random(11, Purpose::kTest);
  for (int instance = 0; instance < 40; ++instance) {
    std::vector<double> first, second;
    for (int i = 0; i < 6; ++i) first.push_back(1 + random.Below(20)), second.push_back(1 + random.Below(20));
    std::vector<int> order(6);
    std::iota(order.begin(), order.end(), 0);
    double least = kNever;
    do {
      double cpu = 0.0, gpu = 0.0;
      for (int i : order) {
        cpu += first[static_cast<std::size_t>(i)];
        gpu = std::max(gpu, cpu) + second[static_cast<std::size_t>(i)];
      }
      least = std::min(least, gpu);
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(RunOf(FlowShop(first, second), "johnson").metrics.makespan_s == Approx(least));
  }
}

TEST_CASE("a part of the jobs keeps the dependencies among them") {
  const Scenario whole = With(test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {5, 10}, {6, 10}, {7, 10}}),
                              "stages(after=2>0:3>2)");
  const Scenario part = Slice(whole, 1, 4);
  CHECK(part.data().features.Find<StageSettings>()->after == "3>2");
  CHECK(whole.data().features.Find<StageSettings>()->after == "2>0:3>2");
}

TEST_CASE("wrong stages are one line") {
  const auto message = [](const std::string& features) -> std::string {
    try {
      With(test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {0, 10}}), features);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("stages(after=1>7)").find("no job 7") != std::string::npos);
  CHECK(message("stages(after=1>1)").find("itself") != std::string::npos);
  CHECK(message("stages(after=0>1:1>2:2>0)").find("circle") != std::string::npos);
  CHECK(message("stages(after=01)").find("child>parent") != std::string::npos);
  CHECK(message("stages(cpu_core_s=1:2)").find("job types") != std::string::npos);
  CHECK(message("stages(offload=-0.5)").find("-1") != std::string::npos);
}

}  // namespace
TEST_CASE("stages: dependencies are drawn for a share of the jobs, by the scenario's seed") {
  std::vector<test::TinyJob> jobs(4000, {0.0, 10.0});
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, jobs);
  StageSettings settings;
  settings.depends = 0.3;
  const std::vector<std::vector<int>> parents = Parents(settings, data);
  int waiting = 0;
  for (int job = 0; job < 4000; ++job) {
    const std::vector<int>& mine = parents[static_cast<std::size_t>(job)];
    waiting += mine.empty() ? 0 : 1;
    for (int parent : mine) CHECK((parent < job && parent >= job - 10));
  }
  CHECK(std::abs(waiting / 3999.0 - 0.3) < 3.0 * std::sqrt(0.3 * 0.7 / 3999.0));
  CHECK(Parents(settings, data) == parents);
  data.seed = 1;
  CHECK(Parents(settings, data) != parents);
}

}  // namespace berth
