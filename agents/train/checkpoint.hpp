// RUN/checkpoint.h5 (kind "checkpoint"): all that is needed to continue bit for bit on the CPU, and all that
// export needs. It is of the whole run, whatever the number of ranks: any other number reads it. Written
// under a temporary name and renamed, so a kill leaves the old one or the new one.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "agents/learner/agent.hpp"
#include "agents/train/learn_api.hpp"

namespace berth {

// 5: DQN's replay buffer keeps every observation once and its moments lie in one row; its older checkpoints
// are refused. PPO's of version 4 are read.
inline constexpr int kCheckpointVersion = 5;
inline constexpr const char* kCheckpointKind = "checkpoint";
inline constexpr int kCheckpointExamples = 16;

struct TrainCounters {
  std::int64_t steps = 0;
  double wall_s = 0.0;
  double best_return = -std::numeric_limits<double>::infinity();  // of the recent episodes' means
  std::int64_t best_step = 0;
};

// What a run is: must agree when it is continued.
struct RunIdentity {
  std::string agent, network;  // resolved specs
  MdpSpec mdp;
  ObservationLayout layout;
  int num_actions = 0, num_envs = 0;
  std::vector<std::string> gpu_types;
  std::uint64_t seed = 0;
  std::string config, workload, environment, commit;
};
RunIdentity IdentityOf(const TrainRequest& request);

// With several ranks on each of them; rank 0 writes.
void SaveCheckpoint(const std::string& path, const RunIdentity& run, const TrainCounters& counters,
                    Agent& agent, const BatchEnv& env, const Ranks& ranks = {});

// Into an agent and an environment made for `run`. Throws Error naming both sides where the file is of
// another run; only config and commit may differ.
TrainCounters LoadCheckpoint(const std::string& path, const RunIdentity& run, Agent& agent, BatchEnv& env);

// For export: what the run was, its network, counters and example rows.
struct TrainedNetwork {
  RunIdentity run;
  TrainCounters counters;
  std::shared_ptr<Network> network;
  std::vector<float> observation;  // [rows, D]
  std::vector<std::uint8_t> mask;  // [rows, A]
};
TrainedNetwork ReadTrainedNetwork(const std::string& path);

}  // namespace berth
