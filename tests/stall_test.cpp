// What can never run ends every run with an error, whatever the scheduler: also one that wakes itself again
// and again, or that no GPU type is left for.
#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

TEST_CASE("stalls: with GPUs gone for good every scheduler says that it stalls") {
  // From 100 s on three of four GPUs are left, and gangs of four wait, before and after they have run.
  ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}, {2.0}},
                                     {{0, 500, 0, 4}, {10, 500, 0, 2}, {20, 900, 1, 4}, {200, 50, 0, 4}});
  data.cluster.types[0].memory_gb = 16.0;
  data.features = ParseFeatures("failures(mtbf_h=0,events=100:inf:gpu:v100/3)");
  int most = 0;  // decisions of a run: some wake themselves
  for (const char* clock : {"event", "rounds(60)"}) {
    data.clock = Clock::Parse(clock);
    const Scenario scenario(data);
    for (const SchedulerInfo& info : BaselineSchedulers()) {
      INFO(info.name << " under " << clock);
      const auto scheduler = MakeScheduler(info.name, std::vector<SchedulerTable>{BaselineSchedulers()});
      std::string what;
      int decisions = 0;
      RunOptions options;
      options.progress = [&](const Simulator&) {  // every 64 decisions or half a second
        most = std::max(most, decisions += 64);
        return decisions < 100'000;
      };
      try {
        Run(scenario, *scheduler, info.name, options);
      } catch (const Error& error) {
        what = error.what();
      }
      CHECK(what.find(std::string("'") + info.name + "' ") != std::string::npos);
    }
  }
  CHECK(most > 5000);
}

// A round of 360 s is longer than two GPUs last: whatever starts is stopped before the next decision.
TEST_CASE("stalls: where the cluster stops every job, that is said and no scheduler is blamed") {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 5000}, {10, 5000}});
  data.clock = Clock::Parse("rounds(360)");
  data.features = ParseFeatures("failures(mtbf_h=0.01,repair_h=0.001)");
  const Scenario scenario(data);
  const auto run = [&](const RunOptions& options) {
    const auto scheduler = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
    return Run(scenario, *scheduler, "fcfs", options);
  };
  CHECK_THROWS_WITH(run({}), Catch::Contains("'fcfs' stalls: no job has ended for ") &&
                                 Catch::Contains(" with 2 in the system") &&
                                 Catch::Contains("the cluster itself has stopped them "));
  RunOptions options;
  std::vector<std::string> told;
  options.notice = [&](const std::string& words) { told.push_back(words); };
  const RunResult result = run(options);
  CHECK((result.metrics.jobs == 0 && result.metrics.unfinished == 2));
  REQUIRE(!told.empty());
  CHECK_THAT(told.back(), Catch::Contains("the run ends with them unfinished"));
}

// First come, first served, and nobody before the first; `again`: also who was stopped.
class InOrder final : public Scheduler {
 public:
  explicit InOrder(bool again) : again_(again) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView& view) override { started_.assign(U(view.num_jobs()), 0); }
  void Decide(const ClusterView& view, Decision& decision) override {
    int free = view.free_gpus()[0];
    for (const int job : view.waiting()) {
      if (started_[U(job)] != 0 && !again_) continue;
      if (view.Gang(job) > free) return;
      decision.Start(job, 0);
      started_[U(job)] = 1, free -= view.Gang(job);
    }
  }

 private:
  bool again_;
  std::vector<char> started_;
};

TEST_CASE("stalls: a scheduler that gives up who was stopped is to blame") {
  for (const char* failures :
       {"failures(mtbf_h=0,events=100:150:gpu:v100/0)", "failures(mtbf_h=0.01,repair_h=0.001)"}) {
    for (const char* clock : {"event", "rounds(360)"}) {
      CAPTURE(failures, clock);
      ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 5000}, {10, 50}});
      data.clock = Clock::Parse(clock);
      data.features = ParseFeatures(failures);
      RunOptions options;
      options.notice = [](const std::string&) {};
      InOrder scheduler(/*again=*/false);
      CHECK_THROWS_WITH(
          Run(Scenario(data), scheduler, "never", options),
          Catch::Contains("'never' stalls at ") && Catch::Contains("nothing runs and nothing will arrive"));
    }
  }
}

// Between two rounds often one GPU is up, on which the second job would fit; but the first needs both, and is
// started and stopped again and again. So it is at the end, too, with some of the seeds.
TEST_CASE("stalls: a scheduler that goes on starting who is stopped is not to blame") {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 5000, 0, 2}, {10, 5000}});
  data.clock = Clock::Parse("rounds(360)");
  data.features = ParseFeatures("failures(mtbf_h=0.01,repair_h=0.01)");
  for (data.seed = 1; data.seed <= 8; ++data.seed) {
    CAPTURE(data.seed);
    InOrder scheduler(/*again=*/true);
    RunOptions options;
    std::string told;
    options.notice = [&](const std::string& words) { told = words; };
    CHECK(Run(Scenario(data), scheduler, "in_order", options).metrics.unfinished == 2);
    CHECK_THAT(told, Catch::Contains("the run ends with them unfinished"));
  }
}

// Up for 36 s and down for 360 s on average, a save every 10 s: at nine boundaries of ten nothing can start,
// at the tenth some 30 steps are saved.
TEST_CASE("stalls: a run that gets on from save to save goes on, however often nothing can start") {
  ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 100'000}});
  data.clock = Clock::Parse("rounds(360)");
  data.features = ParseFeatures("failures(mtbf_h=0.01,repair_h=0.1);checkpoints(interval=10,gb=0)");
  const auto scheduler = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
  const RunResult result = Run(Scenario(data), *scheduler, "fcfs", {});
  CHECK(result.metrics.jobs == 1);
  CHECK(result.decisions > 20'000);
}

TEST_CASE("stalls: evaluate marks such runs as unfinished", "[cli]") {
  const test::TemporaryFolder folder;
  const auto shown =
      test::Berth(folder,
                  "evaluate --cluster v100=2 --workload 'synthetic(jobs=5)' --clock 'rounds(360)' --features "
                  "'failures(mtbf_h=0.05)' --schedulers 'fcfs;easy' --seeds 1000:1001");
  CAPTURE(shown.out, shown.error);
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Catch::Contains("fcfs: 5 of 5 measured jobs did not finish"));
}

}  // namespace
}  // namespace berth
