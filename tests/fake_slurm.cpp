#include "tests/fake_slurm.hpp"

namespace berth::test {

FakeSlurm::FakeSlurm() : path_(std::getenv("PATH")) {
  std::filesystem::create_directories(folder_ / "bin");
  for (const char* name : {"squeue", "sinfo", "scontrol", "sacctmgr"})
    std::filesystem::copy_file(BERTH_SOURCE_DIR "/tests/slurm/fake_slurm.py", folder_ / "bin/" + name);
  std::filesystem::copy_file(BERTH_SOURCE_DIR "/tools/slurm/watchdog", folder_ / "bin/watchdog");
  setenv("PATH", (folder_ / "bin:" + path_).c_str(), 1);
  setenv("FAKE_SLURM", (folder_ / "state.json").c_str(), 1);
  Save({{"now", kNow}, {"jobs", Json::array()}, {"nodes", Json::array()}});
}

void FakeSlurm::AddNode(const std::string& name, const std::string& type, int gpus) const {
  Json state = State();
  state["nodes"].push_back({{"name", name},
                            {"state", "idle"},
                            {"state_flags", Json::array()},
                            {"reason", ""},
                            {"gres", Join("gpu:", type, ":", gpus)},
                            {"cpus", 8},
                            {"partitions", {"gpu"}}});
  Save(state);
}

void FakeSlurm::AddJob(int id, const Json& change) const {
  Json state = State();
  Json job = {{"job_id", id},         {"array_job_id", 0},  {"array_task_id", nullptr}, {"array_task_string", ""},
              {"het_job_id", 0},      {"name", Join("j", id)}, {"user_name", "ann"},     {"partition", "gpu"},
              {"job_state", "PENDING"}, {"state_reason", "JobHeldUser"}, {"comment", ""}, {"admin_comment", "berth"},
              {"dependency", ""},     {"priority", 0},      {"nice", nullptr},          {"submit_time", kNow - 100.0 + id},
              {"eligible_time", 0},   {"start_time", 0},    {"time_limit", 60},         {"node_count", 1},
              {"tasks", 1},           {"cpus", 1},          {"requeue", true},          {"restart_cnt", 0},
              {"nodes", ""},          {"required_nodes", ""}, {"tres_per_job", "gres:gpu:1"}, {"tres_per_node", ""},
              {"gres_detail", Json::array()}, {"held_gpus", Json::array()}};
  job.update(change);
  if (!job.contains("tres_req_str")) job["tres_req_str"] = Join("cpu=", job["cpus"].get<int>(), ",node=", job["node_count"].get<int>());
  state["jobs"].push_back(std::move(job));
  Save(state);
}

}  // namespace berth::test
