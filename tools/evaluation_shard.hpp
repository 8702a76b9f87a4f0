// An evaluation by several processes: each simulates every world.size-th workload and leaves a file (HDF5 of
// kind "evaluation_shard"); merged, the files are the evaluation of one process, to the last bit but for wall
// times.
//
// K schedulers, s workloads of the shard, W jobs of the window:
//   attributes      config (INI of what was asked for), rank, ranks, window ("A:B"), source_commit
//   schedulers [K], seeds [s], scenario_hashes [s]
//   metrics/KEY, decision_us_mean, decision_us_p99, wall_s [K, s]; jobs, unfinished, decisions, signatures
//   [K, s] jct_s           [K, s, W]
#pragma once

#include <string>
#include <vector>

#include "agents/ranks/world.hpp"
#include "tools/evaluation.hpp"
#include "tools/options.hpp"

namespace berth {

inline constexpr const char* kShardKind = "evaluation_shard";
inline constexpr int kShardVersion = 1;

// What to ask for to get the same plan: the options that are not at their defaults, but for files and
// threads.
std::string ShardConfig(const Options& options);
// "r.h5" of rank 1 of 4 is "r.1-of-4.h5".
std::string ShardPath(const std::string& path, const World& world);
// The workloads world.rank, world.rank + world.size, ... of the plan; none where there are fewer.
EvaluationPlan ShardOf(const EvaluationPlan& plan, const World& world);

void WriteShard(const EvaluationPlan& shard, const std::vector<ResultRow>& rows, const std::string& config,
                const World& world, const std::string& path);

// Files of one evaluation. Throws Error that names the file: of another run, given twice, missing.
class EvaluationShards {
 public:
  explicit EvaluationShards(const std::vector<std::string>& paths);
  const std::string& config() const { return config_; }
  const std::string& first() const { return first_; }  // path
  // The rows of `plan`, which was made anew from config(). Throws Error where the plan's workloads are
  // others.
  std::vector<ResultRow> Rows(const EvaluationPlan& plan) const;

 private:
  std::vector<std::string> paths_;  // [ranks] by rank, "" = none
  std::string first_, config_;
};

}  // namespace berth
