// What berth serve --slurm wrote down, as a scenario and as starts that the scheduler `recorded` carries out: logs by hand, wrong lines.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/decisions/decisions.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/decisions_by_hand.hpp"
#include "tests/errors.hpp"
#include "tests/outages_told.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

using test::EndLine;
using test::JobLine;
using test::kBegin;
using test::Logged;
using test::NodeLine;
using test::ReadLog;
using test::Replayed;
using test::StartLine;

// Everything that may happen to a job. 1 ran; 2 checkpoints and was requeued; 5_3 is an array's task that asked for a type; 6 lost what
// it had done with node v2; 9 never ran; 10 had not ended and said nothing; 11 had not ended and said how much it is.
const std::string kLog =
    kBegin + JobLine("1", 1000.1, 2, R"(,"limit_s":600)") + StartLine("1", 1002, 1001.5, "4,5") + JobLine("2", 1003.25, 1, R"(,"checkpoint":true)") +
    JobLine("5_3", 1003.5, 4, R"(,"type":"v100")") + StartLine("2", 1004.7, 1004, "0") + JobLine("6", 1005, 1) + JobLine("9", 1005, 1) +
    EndLine("9", 1006) + EndLine("2", 1010, "stop") + EndLine("1", 1011.5) + StartLine("2", 1012, 1012, "8") + JobLine("10", 1013, 1) +
    JobLine("11", 1014, 1, R"(,"steps":50)") + StartLine("11", 1015, 1015, "1") + StartLine("10", 1016, 1016, "2") + EndLine("2", 1022) +
    StartLine("6", 1022.5, 1022.5, "8") + NodeLine("v2", 1023, false) + EndLine("6", 1023, "stop") + NodeLine("v2", 1028, true) +
    StartLine("6", 1029, 1029, "8") + StartLine("5_3", 1030, 1030.25, "4,5,6,7") + EndLine("6", 1039) + EndLine("5_3", 1040.25);

}  // namespace

TEST_CASE("decisions: a job that ran on other numbers of GPUs than it said is played again all the same", "[readers]") {
  const test::TemporaryFolder folder;
  // 1 got 6 GPUs where 2 were decided; 2 ran on 1, was stopped, and ran on 4.
  const Scenario scenario = ReadLog(folder, kBegin + JobLine("1", 1000, 2) + JobLine("2", 1000, 1, R"(,"checkpoint":true)") + StartLine("1", 1001, 1001, "4,5,6,8,9,10") +
                                                StartLine("2", 1001, 1001, "0") + EndLine("2", 1002, "stop") + StartLine("2", 1003, 1003, "0,1,2,3") +
                                                EndLine("2", 1004) + EndLine("1", 1005));
  CHECK(scenario.data().jobs.gang == std::vector<int>{6, 4});
  const std::vector<std::pair<std::int64_t, double>> starts = {{1, 1.0}, {2, 3.0}};
  CHECK(Logged(folder) == starts);
  CHECK(Replayed(folder, scenario) == starts);
  // What 2 did on one GPU is not done again: it ends as it did.
  CHECK(test::Ends("recorded(file=" + (folder / "starts.csv") + ")", scenario) == std::vector<double>{5, 4});
  const std::string& said = scenario.data().provenance;
  CHECK(said.find("; 1 run on another number of GPUs than its job's last is left out") != std::string::npos);
  // It runs yet: of 10 steps it has made 2, where they were kept.
  for (const auto& [keeps, steps] : {std::pair{"true", 8.0}, {"false", 10.0}}) {
    const std::string log = kBegin + JobLine("1", 1000, 1, Join(R"(,"steps":10,"checkpoint":)", keeps)) + StartLine("1", 1001, 1001, "4") +
                            EndLine("1", 1002, "stop") + StartLine("1", 1003, 1003, "4,5");
    CHECK(ReadLog(folder, log).data().jobs.total_steps == std::vector<double>{steps});
  }
}

TEST_CASE("decisions: a log by hand as a scenario", "[readers]") {
  const test::TemporaryFolder folder;
  const Scenario scenario = ReadLog(folder, kLog);
  const JobTable& jobs = scenario.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{1, 2, 500000003, 6, 11});
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(jobs.arrival[i] == Approx(std::vector<double>{0, 3.15, 3.4, 4.9, 13.9}[i]).margin(1e-9));
  // 1: 10 s x 2 steps/s. 2: 6 s x 0.5 and 10 s x 2. 5_3: 10 s x 2. 6: its last 10 s x 2 alone. 11: as it said.
  CHECK(jobs.total_steps == std::vector<double>{20, 23, 20, 20, 50});
  CHECK(jobs.gang == std::vector<int>{2, 1, 4, 1, 1});
  CHECK(jobs.allowed == std::vector<std::uint64_t>{3, 3, 2, 3, 3});
  CHECK(jobs.requested_s[0] == 600.0);
  CHECK(scenario.data().cluster.types[1].count == 8);
  const std::string features = ToString(scenario.data().features);
  INFO(features);
  CHECK(features.find(":node:v100/1") != std::string::npos);  // v2, the second of its type, from 22.9 to 27.9 s
  const std::string& said = scenario.data().provenance;
  INFO(said);
  CHECK(said.find("1 job that had not ended is left out") != std::string::npos);
  CHECK(said.find("1 job that ended without running is left out") != std::string::npos);
}

TEST_CASE("decisions: GPU types whose names begin alike are types of their own", "[readers]") {
  const test::TemporaryFolder folder;
  // Of a job that asked for `asked`; `second` and `third` are the types of nodes n2, with 8 GPUs, and n3, with 4.
  const auto allowed = [&](const char* asked, const std::string& second, const std::string& third) {
    const std::string begin =
        Join(R"({"at":1000,"kind":"begin","types":[{"name":"a100","gpus":4,"gpus_per_node":4,"nodes":["n1"]},{"name":)", second,
             R"(,"gpus":8,"gpus_per_node":8,"nodes":["n2"]},{"name":)", third, R"(,"gpus":4,"gpus_per_node":4,"nodes":["n3"]}],)",
             R"("classes":[{"name":"job","steps_per_s":{"a100":1,"a100-8":1,"a100-sxm":1}}]})", "\n");
    const std::string type = Join(R"(,"type":")", asked, "\"");
    const std::string log = begin + JobLine("1", 1001, 1, type) + StartLine("1", 1002, 1002, "0") + EndLine("1", 1003);
    return ReadLog(folder, log).data().jobs.allowed[0];
  };
  // Bits: n1, n2, n3. Nodes n1 and n2 have a100, 4 and 8 of them; or n2 has GPUs that are called a100-8.
  const std::string kind = R"("a100-8","gpu_type":"a100")", own = R"("a100-8","gpu_type":"a100-8")", sxm = R"("a100-sxm","gpu_type":"a100-sxm")";
  CHECK(allowed("a100", kind, sxm) == 3);
  CHECK(allowed("a100-sxm", kind, sxm) == 4);
  CHECK(allowed("a100", own, sxm) == 1);
  CHECK(allowed("a100-8", own, sxm) == 2);
  // A log that does not say so: "-8" on nodes with 8 is a kind of node, "-sxm" is none.
  CHECK(allowed("a100", R"("a100-8")", R"("a100-sxm")") == 3);
  CHECK(allowed("a100-sxm", R"("a100-8")", R"("a100-sxm")") == 4);
}

TEST_CASE("decisions: recorded() starts every job at the instant of the log", "[readers]") {
  const test::TemporaryFolder folder;
  const Scenario scenario = ReadLog(folder, kLog);
  const auto logged = Logged(folder);
  REQUIRE(logged.size() == 7);
  CHECK(logged[0].second == 1001.5 - 1000.1);
  CHECK(Replayed(folder, scenario) == logged);
}

TEST_CASE("decisions: a node out of service takes no new job, whatever its state is called", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string v100 = R"(,"type":"v100")";
  const std::string jobs = JobLine("1", 1000, 4, v100) + JobLine("2", 1000, 4, v100) + StartLine("1", 1001, 1001, "4,5,6,7") + EndLine("1", 1101) +
                           StartLine("2", 1102, 1102, "4,5,6,7") + EndLine("2", 1202);
  for (const char* state : {"idle+drain", "idle+reserved", "idle+not_responding", "idle+reboot_issued", "idle+invalid_reg", "idle+powering_down", "unknown"}) {
    INFO(state);
    const Scenario scenario = ReadLog(folder, kBegin + NodeLine("v2", 1000, false, state) + jobs + NodeLine("v2", 1300, true, "idle"));
    CHECK(test::OutagesTold(scenario) == std::vector<std::string>{"v100/1 0 299999 300"});
    // v1 alone is there: job 2 waits for job 1, as it did.
    CHECK(test::Ends("fcfs", scenario) == std::vector<double>{100, 200});
  }
  for (const char* state : {"down", "down*", "idle+down", "down+reserved"}) {
    INFO(state);
    CHECK(test::OutagesTold(ReadLog(folder, kBegin + NodeLine("v2", 1000, false, state) + jobs + NodeLine("v2", 1300, true, "idle"))) ==
          std::vector<std::string>{"v100/1 0 0 300"});
  }
}

TEST_CASE("decisions: who ran on, or started, on a node out of service does so in the scenario", "[readers]") {
  const test::TemporaryFolder folder;
  // v2 (devices 8 to 11, GPUs v100/4 to v100/7) does not respond from second 10 to 30. Job 1 runs on behind that, job 2 starts in it,
  // job 3 ends in it, and nobody has the last GPU.
  const Scenario scenario =
      ReadLog(folder, kBegin + JobLine("1", 1000, 1) + JobLine("2", 1000, 1) + JobLine("3", 1000, 1) + StartLine("1", 1002, 1002, "8") +
                          StartLine("3", 1003, 1003, "10") + NodeLine("v2", 1010, false, "mixed+not_responding") + StartLine("2", 1015, 1015, "9") +
                          EndLine("2", 1020) + EndLine("3", 1025) + NodeLine("v2", 1030, true, "mixed") + EndLine("1", 1040));
  CHECK(test::OutagesTold(scenario) == std::vector<std::string>{"gpu v100/5 10000 14999 15", "gpu v100/5 20000 29999 30",
                                                                "gpu v100/6 10000 29999 30", "gpu v100/7 10000 29999 30"});
  CHECK(Replayed(folder, scenario) == Logged(folder));
  CHECK(test::Ends("recorded(file=" + (folder / "starts.csv") + ")", scenario) == std::vector<double>{40, 20, 25});
}

TEST_CASE("decisions: a wrong line is named", "[readers]") {
  const test::TemporaryFolder folder;
  std::string other = kBegin;
  other.replace(other.find("\"v2\""), 4, "\"v3\"");
  const std::string good = kBegin + JobLine("1", 1000, 1);
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "decisions.jsonl: expected a line of kind 'begin', found none"},
           {kBegin, "decisions.jsonl: expected a line of kind 'job', found none"},
           {good, "decisions.jsonl: expected a job that ended, found none"},
           {good + "half a line\n" + good, "decisions.jsonl:3: expected a JSON object"},
           {good + "[1]\n" + good, "decisions.jsonl:3: expected a JSON object"},
           {good + R"({"at":1})" + "\n" + good, "decisions.jsonl:3: "},
           {good + StartLine("2", 1001, 1001, "0"), "decisions.jsonl:3: expected a job of a line before, found \"2\""},
           {good + other, "decisions.jsonl:3: expected the nodes of the line 'begin' before it, found others"},
           {kBegin + JobLine("x", 1000, 1), "decisions.jsonl:2: id: expected 17 or 17_3, found 'x'"},
           {kBegin + JobLine("1", 1000, 1) + StartLine("1", 1001, 1001, "12") + EndLine("1", 1002), "decisions.jsonl:3: devices: expected numbers below 12, found 12"},
       }) {
    INFO(text);
    CHECK(test::Says(test::MessageOf([&] { (void)ReadLog(folder, text); }), expected));
  }
  CHECK(test::Says(test::MessageOf([&] { (void)FindFormat("decisions").read(folder / "none", {}); }), "found no file to read"));
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4");
  std::ofstream(folder / "decisions.jsonl") << kLog;
  CHECK(test::Says(test::MessageOf([&] { (void)FindFormat("decisions").read(folder / "decisions.jsonl", settings); }), "expected no --cluster"));
}

TEST_CASE("recorded: a wrong line of its file is named", "[schedulers]") {
  const test::TemporaryFolder folder;
  const Scenario scenario = ReadLog(folder, kLog);
  const std::string spec = "recorded(file=" + (folder / "starts.csv") + ")";
  const auto made = [&](const std::string& text) {
    std::ofstream(folder / "starts.csv") << text;
    return test::MessageOf([&] { CheckRunnable(scenario, *MakeScheduler(spec, AllSchedulers()), spec); });
  };
  const std::string head = "time_s,job,devices\n";
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "starts.csv: expected a file time_s,job,devices"},
           {"time,job\n", "starts.csv:1: expected the header time_s,job,devices, found 'time,job'"},
           {head + "1;2;3\n", "starts.csv:2: expected SECONDS,JOB,DEVICES, found '1;2;3'"},
           {head + "-1,2,3\n", "starts.csv:2: expected SECONDS,JOB,DEVICES"},
           {head + "1,2,3\n0.5,3,4\n", "starts.csv:3: expected no earlier time than the line before, found 0.5"},
           {head + "1,2,3 x\n", "starts.csv:2: expected devices as numbers"},
           {head + "1,2,12\n", "starts.csv:2: expected devices below 12, found 12"},
           {head + "1,2,-1\n", "starts.csv:2: expected devices below 12, found -1"},
       }) {
    INFO(text);
    CHECK(test::Says(made(text), expected));
  }
  CHECK(made(head) == "(no error)");
  CHECK(test::Says(test::MessageOf([] { (void)MakeScheduler("recorded(file=nowhere.csv)", AllSchedulers()); }), "nowhere.csv: expected a file"));
}

}  // namespace berth
