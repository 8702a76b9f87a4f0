// CartPole-v1 of Gymnasium (Barto, Sutton & Anderson 1983) as a BatchEnv: the learners are checked against
// published results on it. Reward 1 a step, terminated when the pole falls or the cart leaves, truncated
// after 500 steps.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "env/batch_env.hpp"
#include "env/rng.hpp"

namespace berth {

class CartPole final : public BatchEnv {
 public:
  static constexpr int kTimeLimit = 500;
  CartPole(int num_envs, double gamma, std::uint64_t seed, Split split = Split::kTrain);
  int num_envs() const override { return static_cast<int>(poles_.size()); }
  int num_actions() const override { return 2; }
  ObservationLayout layout() const override { return {.global_channels = 4}; }
  void Reset(const StepBuffers& out) override;
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override;
  EpisodeStats TakeStats() override;
  std::vector<std::uint8_t> SaveState() const override;
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override;

  // Called after every step of environment 0 with the number of them so far, on the thread that took it.
  std::function<void(std::int64_t)> on_step;

 private:
  struct Pole {
    std::array<double, 4> state;  // position, velocity, angle, angular velocity
    int step;
    std::uint32_t episode;
  };
  struct Ended {
    std::int64_t episodes = 0, steps = 0;
  };
  void Begin(std::size_t i);
  void Write(int begin, int end, const StepBuffers& out) const;

  double gamma_;
  std::uint64_t seed_;
  Split split_;
  std::vector<Pole> poles_;
  std::vector<Ended> ended_;  // [N] since the last TakeStats
  std::int64_t steps_ = 0;
};

}  // namespace berth
