// Classic control tasks of Gymnasium as BatchEnvs: the learners are checked against published results on
// them. What differs from task to task is its Dynamics:
//
//   struct Dynamics {
//     using State = std::array<double, n>;
//     static constexpr int kObservation, kActions, kTimeLimit;        // truncated after kTimeLimit steps
//     static State Start(Stream& stream);
//     static Transition Step(State& state, int action);               // moves the state
//     static void Observe(const State& state, float* row);            // [kObservation]
//   };
//
// Every action is legal. Episode e of environment i starts from Stream(seed, kTest, split, i, e).
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "agents/tasks/ended_episodes.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

struct Transition {
  float reward;
  bool terminated;
};

template <class Dynamics>
class ClassicControl final : public BatchEnv {
 public:
  static constexpr int kTimeLimit = Dynamics::kTimeLimit;
  ClassicControl(int num_envs, double gamma, std::uint64_t seed, Split split = Split::kTrain)
      : gamma_(gamma),
        seed_(seed),
        split_(split),
        bodies_(static_cast<std::size_t>(num_envs)),
        ended_(num_envs) {}
  int num_envs() const override { return static_cast<int>(bodies_.size()); }
  int num_actions() const override { return Dynamics::kActions; }
  ObservationLayout layout() const override { return {.global_channels = Dynamics::kObservation}; }
  void Reset(const StepBuffers& out) override;
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override;
  EpisodeStats TakeStats() override { return ended_.Take(); }
  std::vector<std::uint8_t> SaveState() const override;
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override;

  // Called after every step of environment 0 with the number of them so far, on the thread that took it.
  std::function<void(std::int64_t)> on_step;

 private:
  struct Body {
    typename Dynamics::State state;
    double episode_return;
    std::int32_t step;
    std::uint32_t episode;
  };
  static_assert(std::is_trivially_copyable_v<Body>);
  void Begin(std::size_t i);
  void Write(int begin, int end, const StepBuffers& out) const;

  double gamma_;
  std::uint64_t seed_;
  Split split_;
  std::vector<Body> bodies_;
  EndedEpisodes ended_;
  std::int64_t steps_ = 0;
};

template <class Dynamics>
void ClassicControl<Dynamics>::Begin(std::size_t i) {
  Body& body = bodies_[i];
  Stream stream(seed_, Purpose::kTest, split_, static_cast<std::uint32_t>(i), body.episode);
  body.state = Dynamics::Start(stream);
  body.episode_return = 0.0;
  body.step = 0;
}

template <class Dynamics>
void ClassicControl<Dynamics>::Reset(const StepBuffers& out) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    bodies_[i].episode = 0;
    Begin(i);
  }
  Write(0, num_envs(), out);
}

template <class Dynamics>
void ClassicControl<Dynamics>::Write(int begin, int end, const StepBuffers& out) const {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    Dynamics::Observe(bodies_[i].state, out.observation.data() + i * Dynamics::kObservation);
    std::fill_n(out.action_mask.data() + i * Dynamics::kActions, Dynamics::kActions, std::uint8_t{1});
  }
}

template <class Dynamics>
void ClassicControl<Dynamics>::StepRange(int begin, int end, std::span<const std::int32_t> actions,
                                         const StepBuffers& out) {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    Body& body = bodies_[i];
    const Transition transition = Dynamics::Step(body.state, actions[i]);
    body.episode_return += transition.reward;
    out.reward[i] = transition.reward;
    out.discount[i] = static_cast<float>(gamma_);
    out.terminated[i] = transition.terminated;
    out.truncated[i] = ++body.step >= kTimeLimit;
    if (!out.terminated[i] && !out.truncated[i]) continue;
    Dynamics::Observe(body.state, out.final_observation.data() + i * Dynamics::kObservation);
    if (!out.final_mask.empty())
      std::fill_n(out.final_mask.data() + i * Dynamics::kActions, Dynamics::kActions, std::uint8_t{1});
    ended_.Add(i, body.episode_return);
    ++body.episode;
    Begin(i);
  }
  Write(begin, end, out);
  if (begin > 0) return;
  ++steps_;
  if (on_step) on_step(steps_);
}

template <class Dynamics>
std::vector<std::uint8_t> ClassicControl<Dynamics>::SaveState() const {
  std::vector<std::uint8_t> bytes(bodies_.size() * sizeof(Body));
  std::memcpy(bytes.data(), bodies_.data(), bytes.size());
  return bytes;
}

template <class Dynamics>
void ClassicControl<Dynamics>::LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) {
  if (state.size() != bodies_.size() * sizeof(Body)) {
    throw Error(Join("classic control: expected a state of ", bodies_.size() * sizeof(Body), " bytes, found ",
                     state.size()));
  }
  std::memcpy(bodies_.data(), state.data(), state.size());
  Write(0, num_envs(), out);
}

// CartPole-v1 of Gymnasium (Barto, Sutton & Anderson 1983): push a cart left or right so that its pole stays
// up. Reward 1 a step, terminated when the pole leans more than 12 degrees or the cart leaves [-2.4, 2.4].
struct CartPoleDynamics {
  using State = std::array<double, 4>;  // position m, velocity m/s, angle rad, angular velocity rad/s
  static constexpr int kObservation = 4, kActions = 2, kTimeLimit = 500;
  static State Start(Stream& stream);  // uniform in [-0.05, 0.05)
  static Transition Step(State& state, int action);
  static void Observe(const State& state, float* row);
};

extern template class ClassicControl<CartPoleDynamics>;
using CartPole = ClassicControl<CartPoleDynamics>;

// MountainCar-v0 of Gymnasium (Moore 1990; Sutton & Barto 1998): a car too weak for the hill must swing back
// first. Reward -1 a step, terminated on the hill, so it is never rewarded before it has been there once.
struct MountainCarDynamics {
  using State = std::array<double, 2>;  // position in [-1.2, 0.6], velocity in [-0.07, 0.07] a step
  static constexpr int kObservation = 2, kActions = 3, kTimeLimit = 200;  // left, nothing, right
  static State Start(Stream& stream);  // position uniform in [-0.6, -0.4), at rest
  static Transition Step(State& state, int action);
  static void Observe(const State& state, float* row);
};

extern template class ClassicControl<MountainCarDynamics>;
using MountainCar = ClassicControl<MountainCarDynamics>;

// Acrobot-v1 of Gymnasium (Sutton 1996; equations of Sutton & Barto 1998): swing a two-link pendulum that is
// driven at its elbow until its tip is one link above the shoulder. Reward -1 a step, 0 for the last.
struct AcrobotDynamics {
  using State = std::array<double, 4>;  // angles rad of the first link and of the second to it; rad/s of each
  // cos and sin of the first angle, cos and sin of the second, both velocities; torque -1, 0, 1 N m
  static constexpr int kObservation = 6, kActions = 3, kTimeLimit = 500;
  static State Start(Stream& stream);  // uniform in [-0.1, 0.1), rounded to single precision
  static Transition Step(State& state, int action);
  static void Observe(const State& state, float* row);
};

extern template class ClassicControl<AcrobotDynamics>;
using Acrobot = ClassicControl<AcrobotDynamics>;

}  // namespace berth
