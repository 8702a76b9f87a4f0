// Golden event logs: compulsory for every registered scheduler. `berth_tests --update-golden` writes them
// anew; review is the diff.
#include "tests/golden.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "baselines/schedulers.hpp"
#include "tests/catch.hpp"
#include "tools/bench/golden_suite.hpp"

namespace berth {
namespace {

std::string Log(const SchedulerInfo& info, Scenario (*scenario)(const Clock&)) {
  std::ostringstream out;
  for (const Clock& clock : bench::GoldenClocks()) {
    const RunResult result = bench::GoldenRun(info.name, scenario(clock));
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

// Under tests/golden/; written first where logs are to be updated.
void CheckLog(const std::string& name, const std::string& log) {
  const std::filesystem::path path = BERTH_SOURCE_DIR "/tests/golden/" + name + ".txt";
  if (test::UpdateGolden()) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << log;
  }
  std::ifstream file(path);
  INFO("no golden log? run: berth_tests --update-golden, and read the diff");
  REQUIRE(file.good());
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  CHECK(log == golden);
}

}  // namespace

TEST_CASE("every scheduler has its golden log, and gives it") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    DYNAMIC_SECTION(info.name) {
      CheckLog(info.name, Log(info, bench::GoldenScenario));
    }
  }
}

TEST_CASE("every scheduler has its golden log with tenants and deadlines, and gives it") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    DYNAMIC_SECTION(info.name) {
      CheckLog(std::string("tenants/") + info.name, Log(info, bench::GoldenTenantScenario));
    }
  }
}

}  // namespace berth
