#include <algorithm>
#include <cmath>

#include "agents/tasks/classic_control.hpp"

namespace berth {
namespace {

constexpr double kLeft = -1.2, kRight = 0.6, kGoal = 0.5, kMaxSpeed = 0.07, kForce = 0.001, kGravity = 0.0025;

}  // namespace

MountainCarDynamics::State MountainCarDynamics::Start(Stream& stream) {
  return {stream.Uniform(-0.6, -0.4), 0.0};
}

Transition MountainCarDynamics::Step(State& state, int action) {
  auto& [position, velocity] = state;
  velocity += (action - 1) * kForce + std::cos(3.0 * position) * -kGravity;
  velocity = std::clamp(velocity, -kMaxSpeed, kMaxSpeed);
  position = std::clamp(position + velocity, kLeft, kRight);
  if (position == kLeft && velocity < 0.0) velocity = 0.0;
  return {-1.0F, position >= kGoal && velocity >= 0.0};
}

void MountainCarDynamics::Observe(const State& state, float* row) {
  row[0] = static_cast<float>(state[0]);
  row[1] = static_cast<float>(state[1]);
}

template class ClassicControl<MountainCarDynamics>;

}  // namespace berth
