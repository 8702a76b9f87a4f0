// What squeue and sinfo say, as rows: a recording of Slurm 22.05.8 (tests/slurm/squeue.json, sinfo.json: tools/slurm/cluster with
// jobs of every kind, fields that nobody reads left out), and the later form by hand.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
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
    return JobsOf({{"jobs", {job}}}, "squeue").at(0).all_cpus();
  };
  CHECK(cpus("", 2) == 2);
  CHECK(cpus("gres:gpu:4", 2) == 24);
  CHECK(cpus("gres/gpu=4", 2) == 24);
  CHECK(cpus("gres:gpu:4", 32) == 32);
}

}  // namespace berth
