// Small clusters and a slurm.conf for the scheduler slurm, for tests whose arithmetic stands in a comment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "env/sim/simulator.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::test {

struct SlurmJob {
  double arrival, seconds;
  int gang;
  double limit = 0.0;            // s; 0 = as it runs
  std::string type = "main:normal";
  int tenant = 0;
  std::uint64_t allowed = 3;  // bits: a100, h100
};

// Nodes of 4 GPUs "a100", then some of "h100".
inline Scenario SlurmScenario(const std::vector<SlurmJob>& jobs, int nodes, int others = 0) {
  ScenarioData data;
  data.name = "slurm";
  GpuType type;
  type.name = "a100";
  type.count = 4 * nodes;
  type.gpus_per_node = 4;
  data.cluster.types = {type};
  if (others > 0) {
    type.name = "h100";
    type.count = 4 * others;
    data.cluster.types.push_back(type);
  }
  data.tenants = {{"a/x"}, {"b/y"}};
  data.throughputs.gang_sizes = {1, 2, 3, 4, 8};
  std::vector<std::string>& types = data.throughputs.job_types;
  for (const SlurmJob& job : jobs) {
    auto at = std::find(types.begin(), types.end(), job.type);
    if (at == types.end()) at = types.insert(types.end(), job.type);
    data.jobs.id.push_back(static_cast<std::int64_t>(data.jobs.id.size()));
    data.jobs.arrival.push_back(job.arrival);
    data.jobs.job_type.push_back(static_cast<int>(at - types.begin()));
    data.jobs.gang.push_back(job.gang);
    data.jobs.total_steps.push_back(job.seconds);
    data.jobs.requested_s.push_back(job.limit > 0.0 ? job.limit : job.seconds);
    data.jobs.tenant.push_back(job.tenant);
    if (others > 0) data.jobs.allowed.push_back(job.allowed);
  }
  data.throughputs.alone.assign(types.size() * data.throughputs.gang_sizes.size() * data.cluster.types.size(), 1.0);
  return Scenario(std::move(data));
}

// [J] s of the first start; -1 = never.
inline std::vector<double> SlurmStarts(const std::string& spec, const Scenario& scenario) {
  std::vector<double> starts(static_cast<std::size_t>(scenario.num_jobs()), -1.0);
  RunAudited(spec, scenario);
  const RunResult ran = RunOf(spec, scenario);
  for (const Event& event : ran.events) {
    double& start = starts[static_cast<std::size_t>(event.job)];
    if (event.kind == EventKind::kStart && start < 0.0) start = event.time;
  }
  return starts;
}

class SlurmConf {
 public:
  explicit SlurmConf(const std::string& text) { std::ofstream(folder_ / "slurm.conf") << text; }
  std::string Spec(const std::string& more = "") const { return Join("slurm(conf=", path(), more, ")"); }
  std::string path() const { return folder_ / "slurm.conf"; }

 private:
  TemporaryFolder folder_;
};

inline const std::string kQuick = "SchedulerParameters=bf_interval=1,bf_resolution=1,batch_sched_delay=0\n";
inline const std::string kOne = kQuick + "PartitionName=main Default=YES\n";

}  // namespace berth::test
