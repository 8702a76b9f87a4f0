// What can never run ends every run with an error, whatever the scheduler: also one that wakes itself again
// and again, or that no GPU type is left for.
#include <algorithm>

#include "baselines/schedulers.hpp"
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
  CHECK_THROWS_WITH(run({}), Catch::Contains("'fcfs' stalls: at ") && Catch::Contains(" 2 jobs wait") &&
                                 Catch::Contains("the cluster itself has stopped them "));
  RunOptions options;
  std::vector<std::string> told;
  options.notice = [&](const std::string& words) { told.push_back(words); };
  const RunResult result = run(options);
  CHECK((result.metrics.jobs == 0 && result.metrics.unfinished == 2));
  REQUIRE(!told.empty());
  CHECK_THAT(told.back(), Catch::Contains("the run ends with them unfinished"));
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
