#include <algorithm>
#include <cmath>
#include <numbers>

#include "agents/tasks/classic_control.hpp"

namespace berth {
namespace {

using State = AcrobotDynamics::State;

constexpr double kPi = std::numbers::pi, kStep = 0.2;  // s
constexpr double kMaxSpeed1 = 4.0 * kPi, kMaxSpeed2 = 9.0 * kPi;
// kg, m, kg m^2, m/s^2: both links alike, their centres of mass in the middle.
constexpr double kMass = 1.0, kLength = 1.0, kCentre = 0.5, kInertia = 1.0, kGravity = 9.8;

// Sutton & Barto 1998, §11.3 ("the book" in Gymnasium). The order of operations is Gymnasium's.
State Derivative(const State& state, double torque) {
  const auto& [angle1, angle2, speed1, speed2] = state;
  const double d1 =
      kMass * (kCentre * kCentre) +
      kMass * (kLength * kLength + kCentre * kCentre + 2.0 * kLength * kCentre * std::cos(angle2)) +
      kInertia + kInertia;
  const double d2 = kMass * (kCentre * kCentre + kLength * kCentre * std::cos(angle2)) + kInertia;
  const double phi2 = kMass * kCentre * kGravity * std::cos(angle1 + angle2 - kPi / 2.0);
  const double phi1 = -kMass * kLength * kCentre * (speed2 * speed2) * std::sin(angle2) -
                      2.0 * kMass * kLength * kCentre * speed2 * speed1 * std::sin(angle2) +
                      (kMass * kCentre + kMass * kLength) * kGravity * std::cos(angle1 - kPi / 2.0) + phi2;
  const double turning2 =
      (torque + d2 / d1 * phi1 - kMass * kLength * kCentre * (speed1 * speed1) * std::sin(angle2) - phi2) /
      (kMass * (kCentre * kCentre) + kInertia - d2 * d2 / d1);
  return {speed1, speed2, -(d2 * turning2 + phi1) / d1, turning2};
}

State Add(const State& state, double time, const State& slope) {
  State sum;
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] = state[c] + time * slope[c];
  return sum;
}

double Wrap(double angle) {
  while (angle > kPi) angle -= 2.0 * kPi;
  while (angle < -kPi) angle += 2.0 * kPi;
  return angle;
}

}  // namespace

State AcrobotDynamics::Start(Stream& stream) {
  State state;
  for (double& x : state) x = static_cast<double>(static_cast<float>(stream.Uniform(-0.1, 0.1)));
  return state;
}

// The classical Runge-Kutta method of fourth order, one step.
Transition AcrobotDynamics::Step(State& state, int action) {
  const double torque = action - 1;
  const State k1 = Derivative(state, torque);
  const State k2 = Derivative(Add(state, kStep / 2.0, k1), torque);
  const State k3 = Derivative(Add(state, kStep / 2.0, k2), torque);
  const State k4 = Derivative(Add(state, kStep, k3), torque);
  for (std::size_t c = 0; c < state.size(); ++c)
    state[c] += kStep / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]);
  state[0] = Wrap(state[0]);
  state[1] = Wrap(state[1]);
  state[2] = std::clamp(state[2], -kMaxSpeed1, kMaxSpeed1);
  state[3] = std::clamp(state[3], -kMaxSpeed2, kMaxSpeed2);
  const bool up = -std::cos(state[0]) - std::cos(state[1] + state[0]) > 1.0;
  return {up ? 0.0F : -1.0F, up};
}

void AcrobotDynamics::Observe(const State& state, float* row) {
  for (int link = 0; link < 2; ++link) {
    *row++ = static_cast<float>(std::cos(state[static_cast<std::size_t>(link)]));
    *row++ = static_cast<float>(std::sin(state[static_cast<std::size_t>(link)]));
  }
  *row++ = static_cast<float>(state[2]);
  *row++ = static_cast<float>(state[3]);
}

template class ClassicControl<AcrobotDynamics>;

}  // namespace berth
