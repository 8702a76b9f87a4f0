// CartPole-v1 of Gymnasium (Barto, Sutton & Anderson 1983): push a cart left or right so that its pole stays
// up. Reward 1 a step, terminated when the pole leans more than 12 degrees or the cart leaves [-2.4, 2.4].
#pragma once

#include <array>

#include "agents/tasks/classic_control.hpp"

namespace berth {

struct CartPoleDynamics {
  using State = std::array<double, 4>;  // position m, velocity m/s, angle rad, angular velocity rad/s
  static constexpr int kObservation = 4, kActions = 2, kTimeLimit = 500;
  static State Start(Stream& stream);  // uniform in [-0.05, 0.05)
  static Transition Step(State& state, int action);
  static void Observe(const State& state, float* row);
};

extern template class ClassicControl<CartPoleDynamics>;
using CartPole = ClassicControl<CartPoleDynamics>;

}  // namespace berth
