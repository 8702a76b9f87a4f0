// Logs of berth serve --slurm of several controllers and of jobs whose numbers Slurm gives again or that are requeued; and one that the
// controller wrote beside a Slurm of files.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "data/decisions/decisions.hpp"
#include "tests/catch.hpp"
#include "tests/decisions_by_hand.hpp"
#include "tests/errors.hpp"
#include "tests/fake_slurm.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/controller/controller.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

using test::EndLine;
using test::JobLine;
using test::kBegin;
using test::Logged;
using test::ReadLog;
using test::Replayed;
using test::StartLine;

}  // namespace

TEST_CASE("decisions: a controller that was started again, and a last line cut short", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string twice = kBegin + JobLine("1", 1000, 1) + StartLine("1", 1001, 1001, "0") + kBegin + JobLine("1", 1000, 1) +
                            StartLine("1", 1005, 1001, "0") + EndLine("1", 1011) + R"({"at":1012,"kind":"jo)";
  const Scenario scenario = ReadLog(folder, twice);
  CHECK(scenario.data().jobs.total_steps == std::vector<double>{5});  // one run of 10 s
  CHECK(Replayed(folder, scenario) == Logged(folder));
  CHECK(Logged(folder).size() == 1);
}

TEST_CASE("decisions: a number that Slurm gives again is another job", "[readers]") {
  const test::TemporaryFolder folder;
  const auto of_bob = [](std::string line) { return line.replace(line.find("ann"), 3, "bob"); };
  const std::string first = JobLine("5", 1000, 4) + StartLine("5", 1001, 1001, "4,5,6,7");
  const std::string second = StartLine("5", 1201, 1201, "8") + EndLine("5", 1801);
  const std::string log = kBegin + first + EndLine("5", 1101) + of_bob(JobLine("5", 1200, 1)) + second;
  const Scenario scenario = ReadLog(folder, log);
  const JobTable& jobs = scenario.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{5, 1'000'000'000'000'005});
  CHECK(jobs.gang == std::vector<int>{4, 1});
  CHECK(jobs.total_steps == std::vector<double>{200, 1200});  // 100 s and 600 s of 2 steps/s
  CHECK(jobs.arrival == std::vector<double>{0, 200});
  CHECK(scenario.data().tenants.size() == 2);
  CHECK(Logged(folder).size() == 2);
  CHECK(Replayed(folder, scenario) == Logged(folder));
  // Of the same user at another time; and that the first ended was not seen.
  CHECK(ReadLog(folder, kBegin + first + EndLine("5", 1101) + JobLine("5", 1200, 1, R"(,"restarts":1)") + second).num_jobs() == 2);
  for (const std::string& other : {of_bob(JobLine("5", 1200, 1)), JobLine("5", 1200, 1, R"(,"restarts":0)")}) {
    INFO(other);
    CHECK(ReadLog(folder, kBegin + first + other + second).data().jobs.total_steps == std::vector<double>{1200});
  }
  std::string often = kBegin;
  for (int i = 0; i <= 1000; ++i) often += JobLine("5", 1000 + i, 1, R"(,"restarts":0)");
  CHECK(test::Says(test::MessageOf([&] { (void)ReadLog(folder, often); }), "decisions.jsonl:1002: id: expected a number for at most 1000 jobs, found 5 for more"));
}

TEST_CASE("decisions: a requeued job that a controller sees that was started again is no other job", "[readers]") {
  const test::TemporaryFolder folder;
  for (const char* more : {R"(,"checkpoint":true,"restarts":1)", R"(,"checkpoint":true)"}) {  // an older log does not say it
    INFO(more);
    const std::string log = kBegin + JobLine("1", 1000, 1, R"(,"checkpoint":true)") + StartLine("1", 1001, 1001, "0") + EndLine("1", 1011, "stop") +
                            kBegin + JobLine("1", 1012, 1, more) + StartLine("1", 1020, 1020, "0") + EndLine("1", 1030);
    CHECK(ReadLog(folder, log).data().jobs.total_steps == std::vector<double>{10});  // twice 10 s of 0.5 steps/s
  }
}

TEST_CASE("from the controller's log to the simulator: every job starts when it did", "[slurm]") {
  const test::FakeSlurm slurm;
  for (const char* name : {"v1", "v2"}) slurm.AddNode(name, "v100", 4);
  slurm.AddNode("p1", "p100", 4);
  double now = test::FakeSlurm::kNow;
  ControllerOptions options;
  options.scheduler = "srpt", options.preemptive = true, options.mode = ControlMode::kControl;
  options.out = slurm.folder().path(), options.now = [&] { return now; };
  StatusBoard board;
  Controller controller(options, ReadSiteFile(""), MakeScheduler("srpt", AllSchedulers()), board);
  // 12 jobs of 2 to 4 GPUs, the later the shorter by and by; two in three checkpoint.
  std::map<int, double> left;
  const auto look = [&] {
    now += 1.0;
    Json state = slurm.State();
    state["now"] = now;
    for (Json& job : state["jobs"]) {
      if (job["job_state"] == "RUNNING" && (left[job["job_id"].get<int>()] -= 1.0) <= 0.0)
        job["job_state"] = "COMPLETED", job["held_gpus"] = Json::array();
    }
    slurm.Save(state);
    controller.Cycle();
  };
  for (int id = 1; id <= 12; ++id) {
    left[id] = 16.0 - id;
    slurm.AddJob(id, {{"submit_time", now},
                      {"tres_per_job", Join("gres:gpu:", 2 + id % 3)},
                      {"comment", Join("steps=", left[id], id % 3 != 0 ? ",checkpoint" : "")}});
    look();
  }
  const auto waits_or_runs = [&] {
    const Json jobs = slurm.State()["jobs"];
    return std::any_of(jobs.begin(), jobs.end(), [](const Json& job) { return job["job_state"] == "PENDING" || job["job_state"] == "RUNNING"; });
  };
  for (int i = 0; i < 100 && waits_or_runs(); ++i) look();
  REQUIRE_FALSE(waits_or_runs());
  look();
  const Scenario scenario = FindFormat("decisions").read(slurm / "decisions.jsonl", {});
  CHECK(static_cast<int>(scenario.num_jobs()) == 12);
  const auto logged = Logged(slurm.folder());
  CHECK(logged.size() > 12);
  CHECK(board.Read()["counts"]["requeued"] > 0);
  CHECK(Replayed(slurm.folder(), scenario) == logged);
}

}  // namespace berth
