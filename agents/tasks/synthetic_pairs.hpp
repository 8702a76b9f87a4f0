// The synthetic task for networks over (job, GPU type) pairs: a queue of 32 jobs that is always full, 3
// types, the observation's shape that of ObservationV1, another observation at every step. What a learner
// does here costs what the shapes say, nothing is shared between steps. It measures speed, not learning.
//
//   Action q * 3 + g puts job q on type g, legal where the pair can run; the last action waits. A placed job
//   pays its speed on the type and another takes its place; waiting pays 0. Truncated after 256 steps.
#pragma once

#include <vector>

#include "agents/tasks/ended_episodes.hpp"
#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

class SyntheticPairs final : public BatchEnv {
 public:
  static constexpr int kQueue = 32, kTypes = 3, kSteps = 256;
  SyntheticPairs(int num_envs, double gamma, std::uint64_t seed);
  int num_envs() const override { return static_cast<int>(envs_.size()); }
  int num_actions() const override { return kQueue * kTypes + 1; }
  ObservationLayout layout() const override { return layout_; }
  void Reset(const StepBuffers& out) override;
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override;
  EpisodeStats TakeStats() override { return ended_.Take(); }
  std::vector<std::uint8_t> SaveState() const override;  // not for checkpoints: throws Error
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override;

 private:
  struct Env {
    std::vector<float> row;          // the observation
    std::vector<std::uint8_t> mask;  // [A]
    Stream stream;
    double episode_return = 0.0;
    int step = 0;
  };
  void Begin(Env& env) const;
  void Refill(Env& env, int job) const;
  void Write(int begin, int end, const StepBuffers& out) const;

  ObservationLayout layout_;
  float gamma_;
  std::uint64_t seed_;
  std::vector<Env> envs_;
  EndedEpisodes ended_;
};

}  // namespace berth
