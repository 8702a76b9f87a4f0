// What squeue and sinfo say as text: tasks of arrays, names in any encoding, types of GPUs; rows and JSON that cannot be read.
#include <string>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tools/controller/slurm_state.hpp"

namespace berth {

TEST_CASE("squeue: waiting tasks of arrays in every form that Slurm writes", "[slurm]") {
  const auto tasks = [](const char* text) {
    std::string ids;
    const Json job = {{"job_id", 4}, {"array_job_id", 4}, {"job_state", "PENDING"}, {"array_task_string", text}};
    for (const SlurmJob& one : JobsOf({{"jobs", {job}}}, "squeue")) ids += (ids.empty() ? "" : " ") + one.id + (one.unread.empty() ? "" : "!");
    return ids;
  };
  CHECK(tasks("0-20:5") == "4_0 4_5 4_10 4_15 4_20");
  CHECK(tasks("0-50:20%3") == "4_0 4_20 4_40");  // 50 is no step's
  CHECK(tasks("1-9:2,12,20-21%2") == "4_1 4_3 4_5 4_7 4_9 4_12 4_20 4_21");
  CHECK(tasks("7%1") == "4_7");
  for (const char* text : {"1,3,5...", "0-50:0", "0-50:", "0-50:-5", "9-1:2", "0-9:x"}) {
    INFO(text);
    CHECK(tasks(text) == "4!");  // the array itself, which is Slurm's
  }
}

TEST_CASE("squeue: a job that cannot be read is none of Berth's, and the others are read", "[slurm]") {
  const std::vector<SlurmJob> jobs = JobsOf(
      Json::parse(R"({"jobs": [{"job_id": 6}, {"job_id": 7, "job_state": "RUNNING", "nodes": "v[1-", "partition": "gpu", "tres_per_job": "gres:gpu:2"},
                               {"job_id": 8, "job_state": "PENDING", "tres_per_job": "gres:gpu:1"}]})"),
      "squeue");
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].unusual);
  CHECK(jobs[0].state.empty());
  CHECK(test::Says(jobs[0].unread, "squeue: job 6: expected the key 'job_state'"));
  CHECK(jobs[1].unusual);
  CHECK(jobs[1].running());
  CHECK(jobs[1].partition == "gpu");
  CHECK(test::Says(jobs[1].unread, "squeue: job 7: expected a ']'"));
  CHECK_FALSE(jobs[2].unusual);
  CHECK(jobs[2].unread.empty());
}

TEST_CASE("names in any encoding become text that JSON takes", "[slurm]") {
  const std::string none = "\xEF\xBF\xBD";  // U+FFFD
  for (const char* text : {"", "plain", "caf\xC3\xA9", "\xE2\x82\xAC\xED\x9F\xBF\xEE\x80\x80", "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF"}) CHECK(AsUtf8(text) == text);
  CHECK(AsUtf8("caf\xE9") == "caf" + none);
  CHECK(AsUtf8("\xE9t\xE9 \xC3\xA9") == none + "t" + none + " \xC3\xA9");
  CHECK(AsUtf8("\xE2\x82") == none + none);  // cut off
  // Longer than needed, a surrogate, beyond U+10FFFF.
  for (const char* text : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80"}) {
    INFO(text);
    CHECK_FALSE(NoUtf8In(text).empty());
    CHECK(Json::parse("\"" + AsUtf8(text) + "\"", nullptr, false).is_string());
  }
}

TEST_CASE("GPU types that are numbers, and GPUs without a type", "[slurm]") {
  const auto asks = [](const char* gres) {
    const SlurmJob job = JobsOf({{"jobs", {{{"job_id", 1}, {"job_state", "PENDING"}, {"tres_per_node", gres}}}}}, "squeue").at(0);
    return Join(job.gpu_type, " ", job.gpus);
  };
  CHECK(asks("gres:gpu:3090:4") == "3090 4");
  CHECK(asks("gres/gpu:3090=4") == "3090 4");
  CHECK(asks("gres:gpu:4") == " 4");
  CHECK(asks("gres:gpu") == " 1");
  CHECK(asks("gres:gpu:v100") == "v100 1");
  const auto node = [](const char* gres, const char* used) {
    const SlurmGpuNode one = NodesOf({{"nodes", {{{"name", "n"}, {"state", "idle"}, {"gres", gres}, {"gres_used", used}}}}}, "sinfo").at(0);
    return Join(one.gpu_type, " ", one.gpus, " ", one.used);
  };
  CHECK(node("gpu:3090:4(S:0-1)", "gpu:3090:2(IDX:0-1)") == "3090 4 2");
  CHECK(node("gpu:4", "gpu:(null):2(IDX:0-1)") == "gpu 4 2");
  CHECK(node("gpu:4", "gpu:(null):0(IDX:N/A)") == "gpu 4 0");
  CHECK(node("gpu:v100:no_consume:4", "gpu:v100:0(IDX:N/A)") == "v100 4 0");
}

TEST_CASE("what is none of Slurm's JSON is named in one line", "[slurm]") {
  const auto queue = [](const std::string& text) { return test::MessageOf([&] { (void)JobsOf(Json::parse(text), "squeue --json"); }); };
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "squeue --json: expected the key 'jobs', found none"},
           {"3", "squeue --json: expected the key 'jobs', found none"},
           {"{}", "squeue --json: expected the key 'jobs', found none"},
           {R"({"jobs": {}})", "squeue --json: jobs: expected a list, found object"},
           {R"({"jobs": "none"})", "squeue --json: jobs: expected a list, found string"},
           {R"({"jobs": [7]})", "squeue --json: job 0: expected the key 'job_state', found none"},
           {R"({"jobs": [{"job_id": 7}]})", "squeue --json: job 7: expected the key 'job_state', found none"},
           {R"({"jobs": [{"job_id": 7, "job_state": null}]})", "squeue --json: job 7: job_state: expected a state"},
           {R"({"jobs": [{"job_id": 7, "job_state": []}]})", "squeue --json: job 7: job_state: expected a state"},
       }) {
    INFO(text);
    CHECK(test::Says(queue(text), expected));
  }
  // A field of another type than known counts as not stated.
  const std::vector<SlurmJob> odd = JobsOf(
      Json::parse(R"({"jobs": [{"job_id": 7, "job_state": "PENDING", "requeue": 1, "priority": {"set": 1, "infinite": "no"}, "cpus": "4"}]})"), "x");
  CHECK_FALSE(odd.at(0).requeue);
  CHECK(odd.at(0).cpus == 0);
  CHECK_FALSE(odd.at(0).held());
  const auto nodes = [](const std::string& text) { return test::MessageOf([&] { (void)NodesOf(Json::parse(text), "sinfo --json"); }); };
  CHECK(test::Says(nodes(R"({"sinfo": []})"), "sinfo --json: expected the key 'nodes', found none"));
  // Nodes with GPUs of several types (MIG) are there, but not for Berth.
  const std::vector<SlurmGpuNode> mixed = NodesOf(
      Json::parse(R"({"nodes": [{"name": "n1", "gres": "gpu:a:1,gpu:b:1"}, {"name": "n2", "gres": "gpu:a:1,gpu:a:1"}, {"name": "n3", "gres": "gpu:a:2000"}]})"),
      "sinfo --json");
  REQUIRE(mixed.size() == 3);
  CHECK(mixed[0].name == "n1");
  CHECK(mixed[0].unread == "sinfo --json: node n1: expected GPUs of one type, found 'gpu:a:1,gpu:b:1'");
  CHECK(mixed[1].unread.empty());
  CHECK(mixed[1].gpus == 2);
  CHECK(test::Says(mixed[2].unread, "sinfo --json: node n3: expected at most 1024 GPUs, found 2000"));
  CHECK(test::Says(test::MessageOf([] { (void)VersionOf(Json::parse("{}"), "squeue --json"); }), "squeue --json: expected Slurm's JSON with the key 'meta'"));
  CHECK(test::Says(test::MessageOf([] { (void)VersionOf(Json::parse(R"({"meta": {}})"), "squeue --json"); }), "expected meta.Slurm.release"));
}

}  // namespace berth
