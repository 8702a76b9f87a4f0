// Acrobot-v1 of Gymnasium (Sutton 1996; equations of Sutton & Barto 1998): swing a two-link pendulum that is
// driven at its elbow until its tip is one link above the shoulder. Reward -1 a step, 0 for the last.
#pragma once

#include <array>

#include "agents/tasks/classic_control.hpp"

namespace berth {

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
