// Golden event logs: compulsory for every registered scheduler. `berth_tests --update-golden` writes them
// anew; review is the diff.
#include "tests/golden.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "baselines/schedulers.hpp"
#include "env/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

std::string Log(const SchedulerInfo& info) {
  std::ostringstream out;
  for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}}) {
    const Scenario scenario = test::RandomScenario(42, 12, clock);
    const RunResult result = test::RunOf(info.name, scenario);
    out << "clock " << clock.ToString() << "\n";
    for (const Event& event : result.events) {
      char line[96];
      std::snprintf(line, sizeof(line), "%.17g %s job %d type %d device %d\n", event.time,
                    ToString(event.kind), event.job, event.type, event.device);
      out << line;
    }
  }
  return out.str();
}

}  // namespace

TEST_CASE("every scheduler has its golden log, and gives it") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    DYNAMIC_SECTION(info.name) {
      const std::string path = std::string(BERTH_SOURCE_DIR "/tests/golden/") + info.name + ".txt";
      const std::string log = Log(info);
      if (test::UpdateGolden()) {
        std::filesystem::create_directories(BERTH_SOURCE_DIR "/tests/golden");
        std::ofstream(path) << log;
      }
      std::ifstream file(path);
      INFO("no golden log? run: berth_tests --update-golden, and read the diff");
      REQUIRE(file.good());
      const std::string golden(std::istreambuf_iterator<char>(file), {});
      CHECK(log == golden);
    }
  }
}

}  // namespace berth
