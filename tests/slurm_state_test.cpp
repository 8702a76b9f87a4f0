// What squeue and sinfo say, as rows: a recording of Slurm 22.05.8 (tests/slurm/squeue.json, sinfo.json: tools/slurm/cluster with
// jobs of every kind, fields that nobody reads left out), and the later form by hand.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tools/controller/slurm_state.hpp"

namespace berth {
namespace {

Json RecordedQueue() { return ReadJson(BERTH_SOURCE_DIR "/tests/slurm/squeue.json"); }
Json RecordedNodes() { return ReadJson(BERTH_SOURCE_DIR "/tests/slurm/sinfo.json"); }

std::map<std::string, SlurmJob> ById(const std::vector<SlurmJob>& jobs) {
  std::map<std::string, SlurmJob> found;
  for (const SlurmJob& job : jobs) REQUIRE(found.emplace(job.id, job).second);
  return found;
}

// As data_parser/v0.0.41 of Slurm 24.05 writes numbers that may be missing.
Json Some(double number) { return {{"set", true}, {"infinite", false}, {"number", number}}; }
const Json kUnset = {{"set", false}, {"infinite", false}, {"number", 0}};
const Json kInfinite = {{"set", false}, {"infinite", true}, {"number", 0}};

}  // namespace

TEST_CASE("squeue of 22.05: arrays, GPUs in every way to ask for them, who holds what", "[slurm]") {
  const Json squeue = RecordedQueue();
  CHECK(VersionOf(squeue, "squeue") == "22.05.8");
  const std::map<std::string, SlurmJob> jobs = ById(JobsOf(squeue, "squeue"));
  // 19 jobs that are no arrays' (1, 2, 5 to 19 with the two parts of 15), four waiting tasks of array 3, two that run; four and one of 4; 28 of 20.
  CHECK(jobs.size() == 17 + 4 + 2 + 4 + 1 + 28);

  const SlurmJob& run = jobs.at("1");
  CHECK(run.running());
  CHECK(run.gpus == 2);
  CHECK(run.gpu_type == "v100");
  CHECK(run.nodes == std::vector<std::string>{"v1"});
  CHECK(run.gpu_indices == std::vector<std::vector<int>>{{0, 1}});
  CHECK(run.limit_s == 600.0);
  CHECK(run.requeue);
  CHECK(run.comment == "steps=3600,checkpoint class=resnet");
  CHECK(run.start_s - run.submit_s == 1.0);
  const SlurmJob& two = jobs.at("2");  // --gres=gpu:1 -N2, on nodes of two types
  CHECK(two.gpus == 2);
  CHECK(two.per_node == 1);
  CHECK(two.num_nodes == 2);
  CHECK(two.nodes == std::vector<std::string>{"p1", "v1"});
  CHECK(two.gpu_indices == std::vector<std::vector<int>>{{0}, {2}});

  // --array=0-5%2: two run, four wait; --array=1-9:2 of which task 3 was started.
  for (const char* task : {"3_2", "3_3", "3_4", "3_5", "4_1", "4_5", "4_7", "4_9"}) CHECK(jobs.at(task).pending());
  for (const char* task : {"3_0", "3_1", "4_3"}) CHECK(jobs.at(task).running());
  CHECK(jobs.at("4_3").admin_comment == "berth pinned");
  CHECK(jobs.at("4_3").required == std::vector<std::string>{"v2"});
  CHECK(jobs.at("3_2").reason == "JobArrayTaskLimit");
  CHECK_FALSE(jobs.at("3_2").held());
  CHECK(jobs.at("4_1").held());
  CHECK(jobs.at("3_2").array == "3");
  CHECK(jobs.at("3_2").array_limit == 2);
  CHECK(jobs.at("3_0").array_limit == 2);
  CHECK(jobs.at("4_1").array_limit == 0);
  CHECK(jobs.at("1").array.empty());
  CHECK(jobs.contains("20_44"));
  CHECK_FALSE(jobs.contains("20"));

  CHECK(jobs.at("5").gpus == 4);  // --gres=gpu:p100:4
  CHECK(jobs.at("5").gpu_type == "p100");
  CHECK(jobs.at("5").nice == -60.0);  // 22.05 writes 4294967236
  CHECK(jobs.at("6").nice == 70.0);
  CHECK(jobs.at("1").nice == 0.0);  // null
  CHECK(jobs.at("6").gpus == 8);    // --gres=gpu:v100:4 -N2
  CHECK(jobs.at("6").per_node == 4);
  CHECK(jobs.at("7").gpus == 3);  // --gpus-per-task=1 -n 3
  CHECK(jobs.at("7").cpus == 3);
  CHECK(jobs.at("8").gpus == 4);  // --gpus-per-task=v100:2 -n 2
  CHECK(jobs.at("8").gpu_type == "v100");
  CHECK(jobs.at("9").gpus == 1);  // --gpus-per-socket=1, of how many sockets is left out
  CHECK(jobs.at("9").asks == "GPUs by socket");
  CHECK(jobs.at("11").required == std::vector<std::string>{"v2"});
  CHECK(jobs.at("12").reason == "BeginTime");
  CHECK(jobs.at("12").eligible_s - jobs.at("12").submit_s == 3600.0);
  CHECK(jobs.at("13").dependency == "afterok:1(unfulfilled)");
  CHECK(jobs.at("14").unusual);  // two types
  CHECK(jobs.at("15").unusual);  // two parts of a heterogeneous job
  CHECK(jobs.at("16").unusual);
  CHECK(jobs.at("17").gpus == 0);
  CHECK(jobs.at("18").partition == "gpu,other");
  CHECK(std::isnan(jobs.at("18").limit_s));
  CHECK(jobs.at("19").held());  // requeuehold
  CHECK(jobs.at("19").restarts == 1);
  CHECK(std::none_of(jobs.begin(), jobs.end(), [](const auto& job) {
    return job.second.unusual && job.first != "14" && job.first != "15" && job.first != "16";
  }));
}

TEST_CASE("sinfo of 22.05: types, GPUs and CPUs in use, who takes jobs", "[slurm]") {
  const std::vector<SlurmGpuNode> nodes = NodesOf(RecordedNodes(), "sinfo");
  std::vector<std::string> names;
  for (const SlurmGpuNode& node : nodes) names.push_back(node.name);
  CHECK(names == std::vector<std::string>{"c1", "p1", "v1", "v2"});  // k80, p100, v100
  CHECK(nodes[1].gpu_type == "p100");
  CHECK(nodes[1].used == 2);
  CHECK(nodes[1].idle_cpus == 2);
  CHECK(nodes[1].state == "mixed+drain");
  CHECK(nodes[1].reason == "bad fan");
  CHECK_FALSE(nodes[1].usable);
  CHECK(nodes[2].used == 4);
  CHECK(nodes[2].usable);
  CHECK(nodes[0].partitions == std::vector<std::string>{"other"});
}

TEST_CASE("squeue and scontrol show nodes of 23.02 and later say the same", "[slurm]") {
  // The forms of data_parser/v0.0.39 to v0.0.41 (SchedMD/slurm, src/plugins/data_parser/*/parsers.c), as public recordings of 23.02.6 and
  // 24.05.3 have them: 23.02 has the state as a word and times plain, 24.05 has lists and objects.
  const Json job = {{"job_id", 333},
                    {"array_job_id", Some(0)},
                    {"array_task_id", kUnset},
                    {"array_task_string", ""},
                    {"het_job_id", Some(0)},
                    {"job_state", {"RUNNING"}},
                    {"state_reason", "None"},
                    {"gres_detail", {"gpu:h100:2(IDX:0,3)"}},
                    {"job_resources", {{"nodes", {{"count", 1}, {"list", "n1"}}}}},
                    {"nodes", "n1"},
                    {"node_count", Some(1)},
                    {"tasks", Some(2)},
                    {"cpus", Some(8)},
                    {"tres_per_node", ""},
                    {"tres_per_job", ""},
                    {"tres_per_socket", ""},
                    {"tres_per_task", "cpu=4,gres/gpu:h100=1"},
                    {"required_nodes", ""},
                    {"requeue", true},
                    {"restart_cnt", 2},
                    {"time_limit", Some(90)},
                    {"dependency", ""},
                    {"cluster", "c"},
                    {"name", "x"},
                    {"user_name", "ann"},
                    {"partition", "gpu"},
                    {"comment", ""},
                    {"admin_comment", ""},
                    {"priority", Some(17)},
                    {"nice", -5},
                    {"submit_time", Some(1000)},
                    {"eligible_time", Some(1001)},
                    {"start_time", Some(1002)}};
  Json held = job, task = job, waiting = job, ending = job;
  held["job_id"] = 334, held["job_state"] = {"PENDING"}, held["priority"] = Some(0), held["nodes"] = "";
  held["time_limit"] = kInfinite, held["start_time"] = kUnset, held["gres_detail"] = Json::array();
  held["tres_per_task"] = "cpu=1", held["tres_per_node"] = "gres/gpu:h100:4";
  task["job_id"] = 340, task["array_job_id"] = Some(336), task["array_task_id"] = Some(41);
  waiting["job_id"] = 336, waiting["array_job_id"] = Some(336), waiting["array_task_string"] = "42-43%2", waiting["job_state"] = "PENDING";
  ending["job_id"] = 341, ending["job_state"] = {"COMPLETED", "COMPLETING"};
  const Json squeue = {
      {"jobs", {job, held, task, waiting, ending}},
      {"meta", {{"slurm", {{"version", {{"major", "24"}, {"micro", "3"}, {"minor", "05"}}}, {"release", "24.05.3"}}}}}};
  CHECK(VersionOf(squeue, "squeue") == "24.05.3");
  const std::map<std::string, SlurmJob> jobs = ById(JobsOf(squeue, "squeue"));
  REQUIRE(jobs.size() == 6);
  const SlurmJob& runs = jobs.at("333");
  CHECK(runs.running());
  CHECK(runs.gpus == 2);  // of two tasks
  CHECK(runs.gpu_type == "h100");
  CHECK(runs.gpu_indices == std::vector<std::vector<int>>{{0, 3}});
  CHECK(runs.cpus == 8);
  CHECK(runs.limit_s == 5400.0);
  CHECK(runs.priority == 17.0);
  CHECK(runs.nice == -5.0);
  CHECK(runs.restarts == 2);
  CHECK(runs.start_s == 1002.0);
  CHECK_FALSE(runs.unusual);
  CHECK(jobs.at("334").held());
  CHECK(jobs.at("334").gpus == 4);
  CHECK(jobs.at("334").per_node == 4);
  CHECK(std::isnan(jobs.at("334").limit_s));
  CHECK(jobs.at("334").start_s == 0.0);
  CHECK(jobs.at("336_41").running());
  CHECK(jobs.at("336_42").pending());
  CHECK(jobs.at("336_43").pending());
  CHECK(jobs.at("341").state == "COMPLETING");

  Json node = {{"name", "n1"},
               {"state", {"MIXED"}},
               {"reason", ""},
               {"gres", "gpu:h100:4(S:0-1),nvme:1"},
               {"gres_used", "gpu:h100:2(IDX:0,3),nvme:0"},
               {"cpus", 64},
               {"alloc_cpus", 8},
               {"alloc_idle_cpus", 56},
               {"partitions", {"gpu"}}};
  Json drained = node, asleep = node, without = node;
  drained["name"] = "n2", drained["state"] = {"IDLE", "DRAIN"};
  drained.erase("alloc_idle_cpus");
  asleep["name"] = "n3", asleep["state"] = {"IDLE", "POWERED_DOWN"};
  without["name"] = "login", without["gres"] = "";
  const std::vector<SlurmGpuNode> nodes = NodesOf({{"nodes", {node, drained, asleep, without}}}, "scontrol");
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].gpus == 4);
  CHECK(nodes[0].used == 2);
  CHECK(nodes[0].idle_cpus == 56);
  CHECK(nodes[0].usable);
  CHECK(nodes[1].idle_cpus == 56);  // 64 - 8
  CHECK(nodes[1].state == "idle+drain");
  CHECK_FALSE(nodes[1].usable);
  CHECK(nodes[2].usable);  // Slurm wakes it
  CHECK(nodes[2].asleep);
  CHECK_FALSE(nodes[0].asleep);
  for (const char* flag : {"POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "DOWN"}) {
    INFO(flag);
    asleep["state"] = {"IDLE", "CLOUD", flag};
    CHECK_FALSE(NodesOf({{"nodes", {asleep}}}, "scontrol").at(0).usable);
  }
}

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

TEST_CASE("squeue: GPUs by socket", "[slurm]") {
  const auto asks = [](const Json& sockets) {
    const Json job = {{"job_id", 1}, {"job_state", "PENDING"}, {"node_count", 3}, {"tres_per_socket", "gres:gpu:2"}, {"sockets_per_node", sockets}};
    const SlurmJob read = JobsOf({{"jobs", {job}}}, "squeue").at(0);
    return Join(read.gpus, " ", read.asks);
  };
  CHECK(asks(2) == "12 ");
  CHECK(asks(Some(2)) == "12 ");
  CHECK(asks(nullptr) == "6 GPUs by socket");  // Slurm's
  CHECK(asks(kUnset) == "6 GPUs by socket");
}

TEST_CASE("squeue: CPUs that come with GPUs", "[slurm]") {
  const auto cpus = [](const char* each, int stated) {
    const Json job = {{"job_id", 1}, {"job_state", "PENDING"}, {"cpus", stated}, {"node_count", 2}, {"tres_per_node", "gres:gpu:v100:3"}, {"cpus_per_tres", each}};
    return JobsOf({{"jobs", {job}}}, "squeue").at(0).cpus;
  };
  CHECK(cpus("", 2) == 2);
  CHECK(cpus("gres:gpu:4", 2) == 24);
  CHECK(cpus("gres/gpu=4", 2) == 24);
  CHECK(cpus("gres:gpu:4", 32) == 32);
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
