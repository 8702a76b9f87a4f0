#include <cmath>
#include <numbers>

#include "agents/tasks/classic_control.hpp"

namespace berth {
namespace {

constexpr double kGravity = 9.8, kPoleMass = 0.1, kTotalMass = 1.1, kHalfLength = 0.5, kForce = 10.0,
                 kTau = 0.02;
constexpr double kAngleLimit = 12.0 * 2.0 * std::numbers::pi / 360.0, kPositionLimit = 2.4;

}  // namespace

CartPoleDynamics::State CartPoleDynamics::Start(Stream& stream) {
  State state;
  for (double& x : state) x = stream.Uniform(-0.05, 0.05);
  return state;
}

// Florian 2007, "Correct equations for the dynamics of the cart-pole system", without friction; explicit
// Euler. The order of operations is Gymnasium's.
Transition CartPoleDynamics::Step(State& state, int action) {
  auto& [x, speed, angle, turn] = state;
  const double force = action == 1 ? kForce : -kForce;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double push = (force + kPoleMass * kHalfLength * (turn * turn) * sine) / kTotalMass;
  const double turning = (kGravity * sine - cosine * push) /
                         (kHalfLength * (4.0 / 3.0 - kPoleMass * (cosine * cosine) / kTotalMass));
  const double acceleration = push - kPoleMass * kHalfLength * turning * cosine / kTotalMass;
  x += kTau * speed;
  speed += kTau * acceleration;
  angle += kTau * turn;
  turn += kTau * turning;
  return {1.0F, std::abs(x) > kPositionLimit || std::abs(angle) > kAngleLimit};
}

void CartPoleDynamics::Observe(const State& state, float* row) {
  for (const double x : state) *row++ = static_cast<float>(x);
}

template class ClassicControl<CartPoleDynamics>;

}  // namespace berth
