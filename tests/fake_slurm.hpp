// A Slurm of files instead of daemons (tests/slurm/fake_slurm.py), first on PATH while this lives. With the watchdog
// (tools/slurm) as bin/watchdog.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth::test {

class FakeSlurm {
 public:
  FakeSlurm();
  ~FakeSlurm() { setenv("PATH", path_.c_str(), 1), unsetenv("FAKE_SLURM"); }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  static constexpr double kNow = 1'000'000'000.0;  // s since 1970, at first

  Json State() const { return ReadJson(folder_ / "state.json"); }
  void Save(const Json& state) const { std::ofstream(folder_ / "state.json") << state.dump(); }
  void Set(const char* key, const Json& value) const {
    Json state = State();
    state[key] = value;
    Save(state);
  }
  void AddNode(const std::string& name, const std::string& type, int gpus) const;
  // Held, marked as job_submit.lua does, of one GPU; `change` replaces what is said of it. Without tres_req_str its node_count is of -N.
  void AddJob(int id, const Json& change = Json::object()) const;
  Json Job(int id) const {
    const Json state = State();
    for (const Json& job : state["jobs"]) {
      if (job["job_id"] == id) return job;
    }
    throw Error(Join("no job ", id));
  }
  void SetJob(int id, const Json& change) const {
    Json state = State();
    for (Json& job : state["jobs"]) {
      if (job["job_id"] == id) job.update(change);
    }
    Save(state);
  }
  void End(int id, const char* how = "COMPLETED") const { SetJob(id, {{"job_state", how}, {"held_gpus", Json::array()}}); }
  // What scontrol was asked to change, since the last call.
  std::vector<std::string> Calls() const {
    std::vector<std::string> calls;
    std::ifstream file(folder_ / "state.json.calls");
    for (std::string line; std::getline(file, line);) calls.push_back(line);
    std::filesystem::remove(folder_ / "state.json.calls");
    return calls;
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace berth::test
