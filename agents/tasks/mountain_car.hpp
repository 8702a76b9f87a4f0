// MountainCar-v0 of Gymnasium (Moore 1990; Sutton & Barto 1998): a car too weak for the hill must swing back
// first. Reward -1 a step, terminated on the hill, so it is never rewarded before it has been there once.
#pragma once

#include <array>

#include "agents/tasks/classic_control.hpp"

namespace berth {

struct MountainCarDynamics {
  using State = std::array<double, 2>;  // position in [-1.2, 0.6], velocity in [-0.07, 0.07] a step
  static constexpr int kObservation = 2, kActions = 3, kTimeLimit = 200;  // left, nothing, right
  static State Start(Stream& stream);  // position uniform in [-0.6, -0.4), at rest
  static Transition Step(State& state, int action);
  static void Observe(const State& state, float* row);
};

extern template class ClassicControl<MountainCarDynamics>;
using MountainCar = ClassicControl<MountainCarDynamics>;

}  // namespace berth
