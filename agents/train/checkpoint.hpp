// RUN/checkpoint.h5 (kind "checkpoint"): all that is needed to continue bit for bit on the CPU, and all that
// export needs. It is of the whole run, whatever the number of ranks: any other number reads it. Written
// under a temporary name and renamed, so a kill leaves the old one or the new one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/learner/agent.hpp"
#include "agents/train/learn_api.hpp"

namespace berth {

// 5: DQN's replay buffer keeps every observation once and its moments lie in one row; its older checkpoints
// are refused. PPO's of version 4 are read. 6: of several members; those of one are of version 5 still.
inline constexpr int kCheckpointVersion = 6;
inline constexpr const char* kCheckpointKind = "checkpoint";
inline constexpr int kCheckpointExamples = 16;

struct TrainCounters {
  std::int64_t steps = 0;
  double wall_s = 0.0;
  // After how many steps, and seconds, the present member's part of the training began.
  double began_steps = 0.0, began_s = 0.0;
  // Up to which step validations are done: where a run is continued, one may be due that was cut off.
  std::int64_t validated_steps = 0;
};

// What a run is: must agree when it is continued.
struct RunIdentity {
  std::string agent, network;  // resolved specs
  MdpSpec mdp;
  ObservationLayout layout;
  int num_actions = 0, num_envs = 0, members = 1;
  std::vector<std::string> gpu_types;
  std::uint64_t seed = 0;
  std::string config, workload, environment, commit;
};
RunIdentity IdentityOf(const TrainRequest& request);

// Networks of the run's network spec, of the members that are trained, in their order.
using Members = std::vector<std::shared_ptr<Network>>;

// With several ranks on each of them; rank 0 writes. `trained`: of the members before the agent's.
void SaveCheckpoint(const std::string& path, const RunIdentity& run, const TrainCounters& counters,
                    const Members& trained, Agent& agent, const BatchEnv& env, const Ranks& ranks = {});
// Of the members before the one that the checkpoint's agent trains.
Members LoadMembers(const std::string& path, const RunIdentity& run);

// Into an agent and an environment made for `run`. Throws Error naming both sides where the file is of
// another run; only config and commit may differ.
TrainCounters LoadCheckpoint(const std::string& path, const RunIdentity& run, Agent& agent, BatchEnv& env);

// For export: what the run was, its network, counters and example rows.
struct TrainedNetwork {
  RunIdentity run;
  TrainCounters counters;
  std::string architecture;          // the run's network, or as wide as its members together
  std::shared_ptr<Network> network;  // of all members, the present one included
  std::vector<float> observation;    // [rows, D]
  std::vector<std::uint8_t> mask;    // [rows, A]
};
TrainedNetwork ReadTrainedNetwork(const std::string& path);

}  // namespace berth
