// Schedulers of jobs that adapt: first rounds and tuned Gavel by hand, and the recorded runs of the Sia artifact.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/evaluation.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/pollux/measured.hpp"
#include "tools/reproduce/sia/recorded.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

Scenario PublishedJobs(const std::string& features, int jobs) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("t4=16/4");
  settings.clock = {ClockKind::kRounds, 60.0};
  settings.features = ParseFeatures(features);
  return MakeWorkload(Join("adaptive(rate=0,jobs=", jobs, ")"), settings)
      ->Make(3, Split::kEvaluate, 0, 0);
}

double MeanSeconds(const Scenario& scenario, const std::string& spec) {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
  const Simulator end = FinishedRun(scenario, *scheduler, {0, scenario.num_jobs()});
  double sum = 0.0;
  for (int job = 0; job < scenario.num_jobs(); ++job)
    sum += end.state().completion[static_cast<std::size_t>(job)] -
           scenario.data().jobs.arrival[static_cast<std::size_t>(job)];
  return sum / scenario.num_jobs();
}

double RecordedMean(const sia::RecordedRun& run) {
  return std::accumulate(run.seconds.begin(), run.seconds.end(), 0.0) / static_cast<double>(run.seconds.size());
}

}  // namespace

// A job of which nothing is known starts on one GPU, and has at most twice as many as it has trained on.
TEST_CASE("adaptive: pollux and sia begin with one GPU and double at most") {
  for (const char* spec : {"pollux(search=genetic,generations=20)", "pollux", "sia"}) {
    CAPTURE(spec);
    const Scenario scenario = PublishedJobs("goodput(rules=pollux)", 6);
    const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
    Simulator sim(scenario, {});
    scheduler->Reset(sim.View(scheduler->knowledge()));
    Decision decision;
    std::vector<int> most(6, 0);
    for (int round = 0; round < 12 && sim.AdvanceToDecision(); ++round) {
      decision.Clear();
      scheduler->Decide(sim.View(scheduler->knowledge()), decision);
      REQUIRE(sim.Apply(decision).ok());
      for (int job = 0; job < 6; ++job) {
        const int width = sim.state().Width(job);
        CHECK(width <= std::max(1, 2 * most[static_cast<std::size_t>(job)]));
        if (round == 0) CHECK(width <= 1);
        most[static_cast<std::size_t>(job)] = std::max(most[static_cast<std::size_t>(job)], width);
      }
    }
    CHECK(*std::max_element(most.begin(), most.end()) > 2);
  }
}

// Configurations are 1, 2, 4, ... GPUs of a node, then whole nodes: of nodes of 4 there are 1, 2, 4, 8, 12, ..., of
// nodes of 8 1, 2, 4, 8, 16, ... A gang of another number waited for ever.
TEST_CASE("adaptive: sia refuses a gang that is no configuration, and all leaves it out") {
  const auto with_gang = [](int gang, int node) {
    ScenarioData data = test::TinyData({{"a", 32}}, {{1.0}}, {{0, 10}, {5, 10, 0, gang}});
    data.throughputs.gang_sizes = {1, gang, 32};
    data.cluster.types[0].gpus_per_node = node;
    return Scenario(std::move(data));
  };
  const auto message = [&](int gang, int node) {
    const std::unique_ptr<Scheduler> sia = MakeScheduler("sia", AllSchedulers());
    return test::MessageOf([&] { CheckRunnable(with_gang(gang, node), *sia, "sia"); });
  };
  const std::string_view begin =
      "sia: job 1 of the workload: expected a gang that is a configuration of a type it runs on (a: ";
  CHECK(message(3, 4) == Join(begin, "1, 2 GPUs or whole nodes of 4), found a gang of 3"));
  CHECK(message(6, 4) == Join(begin, "1, 2 GPUs or whole nodes of 4), found a gang of 6"));
  CHECK(message(12, 8) == Join(begin, "1, 2, 4 GPUs or whole nodes of 8), found a gang of 12"));
  CHECK(message(3, 1) == "(no error)");  // three whole nodes
  for (const auto& [gang, node] : {std::pair{8, 4}, {12, 4}, {2, 8}, {16, 8}}) {
    CAPTURE(gang, node);
    const std::unique_ptr<Scheduler> sia = MakeScheduler("sia", AllSchedulers());
    const Scenario scenario = with_gang(gang, node);
    const Simulator end = FinishedRun(scenario, *sia, {0, 2});
    CHECK(std::isfinite(end.state().completion[1]));
  }

  EvaluationPlan plan;
  plan.schedulers = {kAllSchedulers};
  plan.workloads = {with_gang(2, 4), with_gang(3, 4)};  // it could run the first alone
  ExpandAll(plan);
  CHECK(std::ranges::count(plan.schedulers, "sia") == 0);
  CHECK(std::ranges::count(plan.refused, "sia", &Refusal::scheduler) == 1);
  // Where it is named that is said before the first workload is run.
  plan.schedulers = {"fcfs", "sia"};
  CHECK_THROWS_WITH(EmptyRows(plan), Catch::Contains("found a gang of 3"));
  plan = {};
  plan.schedulers = {kAllSchedulers};
  plan.workloads = {with_gang(2, 4)};
  ExpandAll(plan);
  CHECK(std::ranges::count(plan.schedulers, "sia") == 1);
}

// Its allocations are bytes. A node of 256 GPUs ended the process, that of `evaluate --schedulers all` too.
TEST_CASE("adaptive: pollux refuses nodes of more than 255 GPUs") {
  const auto message = [](int node) {
    ScenarioData data = test::TinyData({{"a", 300}}, {{1.0}}, {{0, 10}, {5, 10}});
    data.cluster.types[0].gpus_per_node = node;
    const Scenario scenario(std::move(data));
    const std::unique_ptr<Scheduler> pollux = MakeScheduler("pollux", AllSchedulers());
    return test::MessageOf([&] { Run(scenario, *pollux, "pollux", {}); });
  };
  CHECK(message(255) == "(no error)");
  CHECK(message(256) == "pollux: expected nodes of at most 255 GPUs, found one of 256 a");
}

// One GPU of each type; job 0 makes 2 and 1 steps/s on them, job 1 makes 3 and 1. The sum is greatest, 4, where job 1
// has the first type and job 0 the second.
TEST_CASE("adaptive: tuned Gavel maximises the sum of throughputs") {
  const Scenario scenario(
      test::TinyData({{"a", 1}, {"b", 1}}, {{2.0, 1.0}, {3.0, 1.0}}, {{0, 1000, 0}, {0, 1000, 1}}));
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler("gavel_tuned", AllSchedulers());
  Simulator sim(scenario, {});
  scheduler->Reset(sim.View(scheduler->knowledge()));
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  scheduler->Decide(sim.View(scheduler->knowledge()), decision);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().on_type[0] == 1);
  CHECK(sim.state().on_type[1] == 0);
}

// Tuned Gavel ends every job when the record says; Sia's program has many answers that tie.
TEST_CASE("adaptive: tuned Gavel refuses rounds without length") {
  CHECK(test::Says(test::MessageOf([] { MakeScheduler("gavel_tuned(interval=0)", AllSchedulers()); }),
                   "parameter 'interval': expected a number in [0.001, 1000000000], found 0"));
  CHECK_NOTHROW(MakeScheduler("gavel_tuned(interval=0.001)", AllSchedulers()));
}

TEST_CASE("adaptive: Sia comes near the artifact's recorded run, tuned Gavel repeats it") {
  const std::string path = BERTH_SOURCE_DIR "/../shared/anchors/";
  if (!std::filesystem::exists(Join(path, "sia"))) return test::Skip(Join("needs ", path, "sia"));
  const sia::Folder folder(Join(path, "sia"), Join(path, "pollux/profiles"));
  CHECK(MeanSeconds(folder.Workload("helios-saturn", 1, 60.0, "best"), "sia") ==
        Approx(RecordedMean(folder.Recorded("sia"))).epsilon(0.03));
  const Scenario tuned = folder.Workload("helios-saturn", 1, 360.0, "submitted");
  const std::unique_ptr<Scheduler> gavel = MakeScheduler("gavel_tuned", AllSchedulers());
  const Simulator end = FinishedRun(tuned, *gavel, {0, tuned.num_jobs()});
  const sia::RecordedRun recorded = folder.Recorded("gavel+tunedjobs");
  const auto& goodput = *end.state().features.Find<GoodputState>();
  for (std::size_t job = 0; job < recorded.seconds.size(); ++job) {
    CAPTURE(job);
    CHECK(end.state().completion[job] - tuned.data().jobs.arrival[job] == recorded.seconds[job]);
    CHECK(goodput.jobs[job].starts - 1 == recorded.restarts[job]);
  }
}

TEST_CASE("adaptive: a kept run is read again by the key that made it, with as many jobs") {
  const test::TemporaryFolder folder;
  pollux::Measured kept{{60.0, 0.1 + 0.2}, {0, 3}, 1.5};
  pollux::WriteMeasured(folder.path(), "run", "pollux", kept);
  const auto read = pollux::ReadMeasured(folder.path(), "run", "pollux", 2);
  REQUIRE(read.has_value());
  CHECK(read->seconds == kept.seconds);
  CHECK(read->restarts == kept.restarts);
  CHECK(read->Mean() == Approx(30.15));
  CHECK_FALSE(pollux::ReadMeasured(folder.path(), "run", "sia", 2).has_value());
  CHECK_FALSE(pollux::ReadMeasured(folder.path(), "other", "pollux", 2).has_value());
  CHECK_FALSE(pollux::ReadMeasured(folder.path(), "run", "pollux", 3).has_value());
  kept.restarts.pop_back();
  pollux::WriteMeasured(folder.path(), "run", "pollux", kept);
  CHECK_FALSE(pollux::ReadMeasured(folder.path(), "run", "pollux", 2).has_value());
  WriteTextFile(folder / "run.json", "{\"source\":");
  CHECK_FALSE(pollux::ReadMeasured(folder.path(), "run", "pollux", 2).has_value());
}

}  // namespace berth
