// Helios: what becomes of a line of cluster_log.csv, what is left out, which line is wrong, and the published
// clusters where they are at hand. The rows here are made up.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

const std::string kHead =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";

// start_time, end_time and queue are not read.
std::string Row(const std::string& id, const std::string& vc, const std::string& gpus,
                const std::string& state, const std::string& submit, const std::string& duration) {
  return Join(id, ",u1,", vc, ",", gpus, ",4,1,", state, ",", submit, ",-,-,", duration, ",0\n");
}

Scenario Read(const test::TemporaryFolder& folder, const std::string& text, const char* cluster = "v100=16") {
  std::ofstream(folder / "cluster_log.csv") << text;
  ScenarioSettings settings;
  if (*cluster != '\0') settings.cluster = ParseCluster(cluster);
  return FindFormat("helios").read(folder / "cluster_log.csv", settings);
}

// The number before `words` in a provenance, -1 where they are not there.
int Counted(const Scenario& scenario, const std::string& words) {
  const std::string& text = scenario.data().provenance;
  const std::size_t end = text.find(" " + words);
  if (end == std::string::npos) return -1;
  return std::stoi(text.substr(text.find_last_of(" ", end - 1) + 1));
}

}  // namespace

TEST_CASE("helios: GPU jobs that ended, from the first one's submission, with virtual clusters as tenants",
          "[readers]") {
  const test::TemporaryFolder folder;
  // In time: 32 at 23:59:50 on 31 March is the first that is kept, 35 seconds before 31 and 70 before 30.
  const Scenario scenario =
      Read(folder, kHead + Row("30", "vcA", "8", "COMPLETED", "2020-04-01 00:01:00", "3600") +
                       Row("31", "vcB", "1", "FAILED", "2020-04-01 00:00:25", "7") +
                       Row("32", "vcA", "2", "CANCELLED", "2020-03-31 23:59:50", "90") +
                       Row("33", "vcC", "0", "COMPLETED", "2020-03-01 00:00:00", "90") +   // without GPU
                       Row("34", "vcC", "1", "CANCELLED", "2020-03-01 00:00:00", "0") +    // ran no second
                       Row("35", "vcC", "1", "RUNNING", "2020-03-01 00:00:00", "1000") +   // had not ended
                       Row("36", "vcB", "1", "TIMEOUT", "2020-04-02 00:00:00", "86400") +  // 1 day + 10 s
                       Row("37", "vcB", "1", "NODE_FAIL", "2020-04-02 00:00:00", "5"));
  const JobTable& jobs = scenario.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{32, 31, 30, 36, 37});
  CHECK(jobs.arrival == std::vector<double>{0, 35, 70, 86410, 86410});
  CHECK(jobs.total_steps == std::vector<double>{90, 7, 3600, 86400, 5});
  CHECK(jobs.gang == std::vector<int>{2, 1, 8, 1, 1});
  CHECK(jobs.tenant == std::vector<int>{0, 1, 0, 1, 1});
  REQUIRE(scenario.data().tenants.size() == 2);
  CHECK(scenario.data().tenants[1].name == "vcB");
  CHECK(jobs.gpu_milli.empty());
  CHECK(scenario.Rate(0, 0) == 1.0);
  CHECK(Counted(scenario, "job without GPU") == 1);
  CHECK(Counted(scenario, "that ran no second") == 1);
  CHECK(Counted(scenario, "that had not ended") == 1);
}

TEST_CASE("helios: columns by name, in any order, others passed over", "[readers]") {
  const test::TemporaryFolder folder;
  const Scenario scenario = Read(folder,
                                 "submit_time,state,duration,gpu_num,vc,job_id,extra\n"
                                 "2020-04-01 00:00:00,COMPLETED,60,2,vcA,5,x\n");
  CHECK(scenario.data().jobs.id == std::vector<std::int64_t>{5});
  CHECK(scenario.data().jobs.gang == std::vector<int>{2});
}

TEST_CASE("helios: a wrong line is named", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string good = Row("1", "vcA", "1", "COMPLETED", "2020-04-01 00:00:03", "60");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "cluster_log.csv: expected a header line, found an empty file"},
           {"job_id,vc,gpu_nums,state,submit_time,duration\n",
            "cluster_log.csv:1: expected a column 'gpu_num' (did you mean"},
           {kHead, "cluster_log.csv: expected a job a line, found no jobs"},
           {kHead + Row("1", "vcA", "0", "COMPLETED", "2020-04-01 00:00:03", "60"), "found no jobs"},
           {kHead + good + "2,u1,vcA\n", "cluster_log.csv:3: expected 12 comma-separated columns, found 3"},
           {kHead + Row("x", "vcA", "1", "COMPLETED", "2020-04-01 00:00:03", "60"),
            "cluster_log.csv:2: job_id: expected a whole number, found 'x'"},
           {kHead + Row("1", "vcA", "1.5", "COMPLETED", "2020-04-01 00:00:03", "60"),
            "cluster_log.csv:2: gpu_num: expected a whole number"},
           {kHead + Row("1", "vcA", "-1", "COMPLETED", "2020-04-01 00:00:03", "60"),
            "cluster_log.csv:2: gpu_num: expected at least 0, found -1"},
           {kHead + Row("1", "vcA", "1", "COMPLETED", "1585670403", "60"),
            "cluster_log.csv:2: submit_time: expected a time such as 2020-04-01 00:00:03, found "
            "'1585670403'"},
           {kHead + Row("1", "vcA", "1", "COMPLETED", "2020-02-30 00:00:03", "60"),
            "cluster_log.csv:2: submit_time: expected a date"},
           {kHead + Row("1", "vcA", "0", "COMPLETED", "", "60"), "cluster_log.csv:2: submit_time: expected"},
           {kHead + Row("1", "vcA", "1", "COMPLETED", "2020-04-01 00:00:03", ""),
            "cluster_log.csv:2: duration: expected a number, found ''"},
           {kHead + Row("1", "vcA", "1", "COMPLETED", "2020-04-01 00:00:03", "-5"),
            "cluster_log.csv:2: duration: expected at least 0, found -5"},
           {kHead + Row("1", "vcA", "1", "COMPLETED", "2020-04-01 00:00:03", "inf"),
            "cluster_log.csv:2: total_steps: expected > 0, found inf"},
           {kHead + Row("1", "vcA", "17", "COMPLETED", "2020-04-01 00:00:03", "60"),
            "cluster_log.csv:2: a gang of 17 GPUs is larger"},
           {kHead + good + good, "cluster_log.csv:3: id 1 is used twice"}}) {
    const std::string message = test::MessageOf([&, &bad = text] { Read(folder, bad); });
    CAPTURE(message, expected);
    CHECK(test::Says(message, expected));
  }
  CHECK(test::Says(test::MessageOf([&] { Read(folder, kHead + good, ""); }), "give --cluster"));
}

// gpu_job_num and cpu_job_num of HeliosArtifact, analysis/1_compare with Philly
// trace/helios_cluster_summary.csv; they add up to the 1,580,464 GPU jobs and 3,362,981 jobs of HeliosData's
// README. 4096 GPUs hold the largest.
TEST_CASE("helios: the published clusters have the jobs that their authors count", "[readers]") {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/traces/helios/";
  if (!std::filesystem::exists(folder)) return test::Skip("needs SenseTime's Helios trace (not shipped)");
  struct Published {
    const char* cluster;
    int gpu_jobs, cpu_jobs;
  };
  for (const Published& published :
       {Published{"Venus", 125303, 121405}, Published{"Earth", 427148, 445738},
        Published{"Saturn", 698896, 1054182}, Published{"Uranus", 329117, 161192}}) {
    CAPTURE(published.cluster);
    std::string path = folder + published.cluster + "/cluster_log.csv";
    if (!std::filesystem::exists(path)) path += ".gz";
    if (!std::filesystem::exists(path)) continue;  // one of them alone is a log too
    ScenarioSettings settings;
    settings.cluster = ParseCluster("v100=4096/8");
    const Scenario scenario = FindFormat("helios").read(path, settings);
    CHECK(scenario.num_jobs() + Counted(scenario, "that ran no second") +
              Counted(scenario, "that had not ended") ==
          published.gpu_jobs);
    CHECK(Counted(scenario, "jobs without GPU") == published.cpu_jobs);
    CHECK(scenario.data().tenants.size() > 1);
  }
}

}  // namespace berth
