// One training by several processes: how they meet, agree and are found to be the same. Alone nothing of it
// does anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agents/gpu/device.hpp"
#include "agents/ranks/ranks.hpp"
#include "agents/train/checkpoint.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

// What is to be done before the next call of Play. Clocks differ between ranks: rank 0's decides.
struct Turn {
  bool interrupted = false, out_of_time = false, save = false, report = false;
  double wall_s = 0.0;
};

class JointTraining {
 public:
  // Meets the other ranks where the request's world has them. Throws as JoinProcessGroup.
  JointTraining(const TrainRequest& request, const RunIdentity& run, const ChosenDevice& device);
  const Ranks& ranks() const { return ranks_; }

  // What all ranks do next: rank 0's turn, and interrupted where any rank is. Ranks with many steps a second
  // do not agree on each: `own` nothing is done until then.
  Turn Agree(const Turn& own, std::int64_t steps);
  EpisodeStats Sum(const EpisodeStats& own) const;  // over the ranks
  // Throws Error where the parameters of a rank are not, to the bit, those of rank 0.
  void CheckSame(Network& network) const;

  void AwaitFirst();  // as ProcessGroup's
  void Finish();
  void Abandon(const std::string& why) noexcept;

 private:
  std::unique_ptr<ProcessGroup> group_;
  Ranks ranks_;
  std::int64_t next_steps_ = 0;
  double wall_s_ = 0.0;  // as last agreed
};

}  // namespace berth
