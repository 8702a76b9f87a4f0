// What time 0 of a log is, and of the parts that are cut out of it.
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::TemporaryFolder;

// A job of `run` s on `gpus` GPUs that comes at `submit`.
std::string SwfJob(int id, int submit, int run, int gpus) {
  return Join(id, " ", submit, " -1 ", run, " ", gpus, " -1 -1 -1 -1 -1 1 3 1 -1 0 -1 -1 -1\n");
}

Scenario ReadLog(const TemporaryFolder& folder, const char* format, const std::string& text,
                 std::optional<double> origin = {}) {
  std::ofstream(folder / "t.log") << text;
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=16");
  settings.clock = {ClockKind::kEvent};
  settings.origin_s = origin;
  return FindFormat(format).read(folder / "t.log", settings);
}

}  // namespace

TEST_CASE("a log counts from its first job, wherever its own clock begins", "[readers]") {
  const TemporaryFolder folder;
  const auto at = [](int first, int later) { return std::to_string(first + later); };
  const auto text = [&](const std::string& format, int first) {
    if (format == "swf") return SwfJob(1, first + 10, 90, 2) + SwfJob(2, first, 30, 1);
    if (format == "philly")
      return "job_id,submit_s,duration_s,num_gpus,vc\n1," + at(first, 10) + ",90,2,a\n2," + at(first, 0) + ",30,1,b\n";
    if (format == "gavel") {
      const std::string job = "LM (batch size 10)\tc\td\t-n\t1\t900\t1\t1\t2\t";
      return job + at(first, 0) + "\n" + job + at(first, 10) + "\n";
    }
    return "job_id,submission_time,duration,num_gpu,deadline\na," + at(first, 0) + ",30,1," + at(first, 99) + "\nb," +
           at(first, 10) + ",90,2," + at(first, 140) + "\n";
  };
  for (const char* format : {"swf", "philly", "itp", "gavel"}) {
    CAPTURE(format);
    const Scenario zero = ReadLog(folder, format, text(format, 0)), late = ReadLog(folder, format, text(format, 3715485));
    CHECK(late.data().jobs.arrival == std::vector<double>{0, 10});
    CHECK(late.data().jobs.id == zero.data().jobs.id);
    REQUIRE(late.data().jobs.deadline.size() == zero.data().jobs.deadline.size());
    for (std::size_t job = 0; job < late.data().jobs.deadline.size(); ++job)  // a sum of 3715485 and a fraction has lost bits
      CHECK(late.data().jobs.deadline[job] == Approx(zero.data().jobs.deadline[job]).margin(1e-8));
    CHECK(test::RunOf("fcfs", late).metrics.utilization == test::RunOf("fcfs", zero).metrics.utilization);
    // Who states the origin counts from there; a job before it has no time.
    CHECK(ReadLog(folder, format, text(format, 100), 0.0).data().jobs.arrival == std::vector<double>{100, 110});
    CHECK(ReadLog(folder, format, text(format, 100), 60.0).data().jobs.arrival == std::vector<double>{40, 50});
    CHECK_THROWS_WITH(ReadLog(folder, format, text(format, 100), 101.0),
                      Catch::Contains("t.log: expected no arrival before the origin, found one 1 s before"));
  }
  CHECK(ReadLog(folder, "itp", text("itp", 500)).data().jobs.deadline == std::vector<double>{99, 140});
  // What is wrong is said in the log's own times.
  CHECK_THROWS_WITH(ReadLog(folder, "swf", SwfJob(1, -5, 9, 1)), Catch::Contains("t.log:1: arrival: expected seconds >= 0, found -5"));
}

TEST_CASE("sequences keep the log's times; slices count from their first job", "[readers]") {
  const TemporaryFolder folder;
  const Scenario log = ReadLog(folder, "swf", SwfJob(1, 10, 100, 16) + SwfJob(2, 20, 30, 2) + SwfJob(3, 25, 9, 2), 0.0);
  const Scenario cut = Sequence(log, 1, 2, {ClockKind::kHpc});
  CHECK(cut.data().jobs.arrival == std::vector<double>{20, 25});
  CHECK(cut.data().jobs.id == std::vector<std::int64_t>{2, 3});
  CHECK(cut.data().clock.ToString() == "hpc");
  CHECK(Slice(log, 1, 3).data().jobs.arrival == std::vector<double>{0, 5});
  // Outages, prices and hours of the day stand where the jobs' times do; a job that is left out keeps nobody waiting.
  const std::string outage = "failures(mtbf_h=0,events=4000:5000:node:v100/0)", prices = ";power(electricity_price=1:2:3)";
  ScenarioData data = log.data();
  for (double& arrival : data.jobs.arrival) arrival += 3600.0;
  data.features = ParseFeatures(outage + prices + ";stages(after=2>1:3>2)");
  const Scenario timed = Sequence(Scenario(data), 1, 2, {ClockKind::kEvent});
  CHECK(timed.data().jobs.arrival == std::vector<double>{3620, 3625});
  CHECK(ToString(timed.data().features) == ToString(ParseFeatures(outage + prices + ";stages(after=3>2)")));
  CHECK_THROWS_WITH(Sequence(log, 2, 2, {}), Catch::Contains("expected 2 jobs from 2 on, found 3 jobs"));
}

}  // namespace berth
