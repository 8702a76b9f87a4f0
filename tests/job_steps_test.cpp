// Tables as sacct writes them without -X: no job's steps become jobs, whatever becomes of the job's own row.
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/tables/job_table.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

// `rows` as jobs on 8 h100, of which `skip` may be bad.
JobTableScenario StepsRead(const std::string& rows, int skip) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "jobs.csv";
  std::ofstream(path) << "JobID|Submit|State|ElapsedRaw|AllocTRES\n" << rows;
  ScenarioSettings settings;
  settings.cluster = ParseCluster("h100=8");
  return ReadJobTable(path, {"", "", skip}, settings);
}

constexpr const char* kStep = "12.0|2024-03-01T10:00:00|COMPLETED|50|gres/gpu=2\n";

}  // namespace

// Job 11 and its step stand before each row of job 12, a step of 12 and job 14 behind.
TEST_CASE("tables: steps of a job whose row is left out or refused are no jobs") {
  const std::string before =
      "11|2024-03-01T09:00:00|COMPLETED|60|gres/gpu=2\n11.0|2024-03-01T09:00:00|COMPLETED|50|gres/gpu=2\n";
  const std::string behind = "14|2024-03-01T11:00:00|COMPLETED|60|gres/gpu=1\n";
  for (const auto& [row, refused] : std::vector<std::pair<std::string, int>>{
           {"12|2024-03-01T10:00:00|COMPLETED|0|gres/gpu=2", 0},  // it never ran
           {"12|2024-03-01T10:00:00|RUNNING|60|gres/gpu=2", 0},
           {"12|2024-03-01T10:00:00|COMPLETED|60|cpu=2", 0},         // it has no GPU
           {"12|2024-03-01T10:00:00|COMPLETED|60|gres/gpu=99", 1},   // more than there are
           {"12|Unknown|COMPLETED|60|gres/gpu=2", 1},                // no time
           {"12|2024-03-01T10:00:00|COMPLETED|60|gres/gpu=2|a", 1},  // one column more
           {"12|2024-03-01T10:00:00|COMPLETED|60", 1},               // and less
           {"12|2024-03-01T10:00:00|\xe9|60|gres/gpu=2", 1}}) {      // no UTF-8
    CAPTURE(row);
    const JobTableScenario read = StepsRead(before + row + "\n" + kStep + behind, refused);
    CHECK(read.scenario.data().jobs.id == std::vector<std::int64_t>{11, 14});
    CHECK(read.refused.size() == static_cast<std::size_t>(refused));
  }
  // A step that cannot be read is not the job before it.
  const std::string row = "12|2024-03-01T10:00:00|COMPLETED|60|gres/gpu=2\n";
  CHECK(StepsRead(row + "12.0|2024-03-01T10:00:00\n12.1|2024-03-01T10:00:00|COMPLETED|50|gres/gpu=2\n", 1)
            .scenario.num_jobs() == 1);
}

}  // namespace berth
