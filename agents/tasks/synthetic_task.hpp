// A masked scheduling task of fixed cost, to time learners on: the same work as the task `sched63` of
// the programs that `berth bench --peers` runs (same observation, mask and reward; the random numbers are
// ours). It measures speed, not learning.
//
//   63 job slots, 16 GPUs. Action a < 63 starts job a, action 63 waits. Widths 1, 2, 4 or 8, durations in
//   [0.05, 1). Observation [128]: durations, widths / 8, free / 16, steps left / 256. A job may start where
//   it fits, waiting needs something that runs. Waiting costs the time to the next completion times the idle
//   share. Truncated after 256 steps.
#pragma once

#include <array>
#include <vector>

#include "agents/tasks/ended_episodes.hpp"
#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

class SyntheticTask final : public BatchEnv {
 public:
  static constexpr int kSlots = 63, kGpus = 16, kSteps = 256;
  SyntheticTask(int num_envs, double gamma, std::uint64_t seed);
  int num_envs() const override { return static_cast<int>(envs_.size()); }
  int num_actions() const override { return kSlots + 1; }
  ObservationLayout layout() const override { return {.global_channels = 2 * kSlots + 2}; }
  void Reset(const StepBuffers& out) override;
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override;
  EpisodeStats TakeStats() override { return ended_.Take(); }
  std::vector<std::uint8_t> SaveState() const override;
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override;

 private:
  struct Env {
    std::array<float, 2 * kSlots + 2> row;   // the observation
    std::array<std::uint8_t, kSlots> width;  // GPUs
    std::array<double, kGpus> end;           // of what runs
    std::array<std::uint8_t, kGpus> held;    // its GPUs
    double now, episode_return;
    std::uint64_t drawn;  // position of the stream
    std::uint32_t episode;
    int running, free, step;
  };
  void Begin(std::size_t i);
  void Refill(std::size_t i, std::size_t slot);
  void Write(int begin, int end, const StepBuffers& out) const;
  static void Legal(const Env& env, std::uint8_t* mask);  // [A]

  float gamma_;
  std::uint64_t seed_;
  std::vector<Env> envs_;
  std::vector<Stream> streams_;
  EndedEpisodes ended_;
};

}  // namespace berth
