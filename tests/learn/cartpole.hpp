// CartPole-v1 of Gymnasium (Barto, Sutton & Anderson 1983) as a BatchEnv: the learners are checked against
// published results on it. Reward 1 a step, terminated when the pole falls or the cart leaves, truncated
// after 500 steps.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "agents/agent.hpp"
#include "env/batch_env.hpp"
#include "env/rng.hpp"

namespace berth {

class CartPole final : public BatchEnv {
 public:
  CartPole(int num_envs, double gamma, std::uint64_t seed, Split split = Split::kTrain);
  int num_envs() const override { return static_cast<int>(poles_.size()); }
  int num_actions() const override { return 2; }
  ObservationLayout layout() const override { return {.global_channels = 4}; }
  void Reset(const StepBuffers& out) override;
  void Step(std::span<const std::int32_t> actions, const StepBuffers& out) override;
  EpisodeStats TakeStats() override;
  std::vector<std::uint8_t> SaveState() const override;
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override;

  // Called after every step with the steps of environment 0 so far.
  std::function<void(std::int64_t)> on_step;

 private:
  struct Pole {
    std::array<double, 4> state;  // position, velocity, angle, angular velocity
    int step;
    std::uint32_t episode;
  };
  void Begin(std::size_t i);
  void Write(const StepBuffers& out) const;

  double gamma_;
  std::uint64_t seed_;
  Split split_;
  std::vector<Pole> poles_;
  EpisodeStats stats_;
  std::int64_t steps_ = 0;
};

// Mean return of `episodes` greedy episodes, side by side, on starts that training cannot draw.
double EvaluateCartPole(Agent& agent, int episodes, std::uint64_t seed);

// An agent for `env`.
std::unique_ptr<Agent> MakeTestAgent(const std::string& agent, const std::string& network,
                                     const BatchEnv& env, std::uint64_t seed, int threads = 1,
                                     torch::Device device = torch::kCPU);
// One pass of the trainer's loop: act, step, observe, learn. Gives back whether it learnt.
bool TrainStep(Agent& agent, BatchEnv& env, double fraction, std::vector<std::int32_t>& actions);
// All parameters in one row.
std::vector<float> FlatParameters(Agent& agent);

}  // namespace berth
