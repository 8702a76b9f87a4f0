// What can never run ends every run with an error, whatever the scheduler: also one that wakes itself again
// and again, or that no GPU type is left for.
#include "baselines/schedulers.hpp"
#include "env/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

TEST_CASE("stalls: with GPUs gone for good every scheduler says that it stalls") {
  // From 100 s on three of four GPUs are left, and a gang of four waits.
  ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 50}, {10, 500, 0, 2}, {200, 50, 0, 4}});
  data.cluster.types[0].memory_gb = 16.0;
  data.features = ParseFeatures("failures(mtbf_h=0,events=100:inf:gpu:v100/3)");
  for (const char* clock : {"event", "rounds(60)"}) {
    data.clock = Clock::Parse(clock);
    const Scenario scenario(data);
    for (const SchedulerInfo& info : BaselineSchedulers()) {
      INFO(info.name << " under " << clock);
      const auto scheduler = MakeScheduler(info.name, std::vector<SchedulerTable>{BaselineSchedulers()});
      std::string what;
      try {
        Run(scenario, *scheduler, info.name, {});
      } catch (const Error& error) {
        what = error.what();
      }
      CHECK(what.find(std::string("'") + info.name + "' ") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace berth
