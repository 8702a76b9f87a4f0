// What can never run ends every run with an error, whatever the scheduler: also one that wakes itself again
// and again, or that no GPU type is left for.
#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
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

}  // namespace
}  // namespace berth
