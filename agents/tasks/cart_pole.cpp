#include "agents/tasks/cart_pole.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "env/check.hpp"

namespace berth {
namespace {

constexpr double kGravity = 9.8, kPoleMass = 0.1, kTotalMass = 1.1, kHalfLength = 0.5, kForce = 10.0,
                 kTau = 0.02;
constexpr double kAngleLimit = 12.0 * 2.0 * std::numbers::pi / 360.0, kPositionLimit = 2.4;

}  // namespace

CartPole::CartPole(int num_envs, double gamma, std::uint64_t seed, Split split)
    : gamma_(gamma),
      seed_(seed),
      split_(split),
      poles_(static_cast<std::size_t>(num_envs)),
      ended_(poles_.size()) {}

void CartPole::Begin(std::size_t i) {
  Stream stream(seed_, Purpose::kTest, split_, static_cast<std::uint32_t>(i), poles_[i].episode);
  for (double& x : poles_[i].state) x = stream.Uniform(-0.05, 0.05);
  poles_[i].step = 0;
}

void CartPole::Reset(const StepBuffers& out) {
  for (std::size_t i = 0; i < poles_.size(); ++i) {
    poles_[i].episode = 0;
    Begin(i);
  }
  Write(0, num_envs(), out);
}

void CartPole::Write(int begin, int end, const StepBuffers& out) const {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    for (std::size_t c = 0; c < 4; ++c) out.observation[i * 4 + c] = static_cast<float>(poles_[i].state[c]);
    out.action_mask[i * 2] = out.action_mask[i * 2 + 1] = 1;
  }
}

void CartPole::StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    auto& [x, speed, angle, turn] = poles_[i].state;
    const double force = actions[i] == 1 ? kForce : -kForce;
    const double cosine = std::cos(angle), sine = std::sin(angle);
    const double push = (force + kPoleMass * kHalfLength * turn * turn * sine) / kTotalMass;
    const double turning = (kGravity * sine - cosine * push) /
                           (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kTotalMass));
    const double acceleration = push - kPoleMass * kHalfLength * turning * cosine / kTotalMass;
    x += kTau * speed;
    speed += kTau * acceleration;
    angle += kTau * turn;
    turn += kTau * turning;
    const int step = ++poles_[i].step;
    out.reward[i] = 1.0F;
    out.discount[i] = static_cast<float>(gamma_);
    out.terminated[i] = std::abs(x) > kPositionLimit || std::abs(angle) > kAngleLimit;
    out.truncated[i] = step >= kTimeLimit;
    if (!out.terminated[i] && !out.truncated[i]) continue;
    for (std::size_t c = 0; c < 4; ++c) {
      out.final_observation[i * 4 + c] = static_cast<float>(poles_[i].state[c]);
    }
    if (!out.final_mask.empty()) out.final_mask[i * 2] = out.final_mask[i * 2 + 1] = 1;
    ++ended_[i].episodes;
    ended_[i].steps += step;
    ++poles_[i].episode;
    Begin(i);
  }
  Write(begin, end, out);
  if (begin > 0) return;
  ++steps_;
  if (on_step) on_step(steps_);
}

EpisodeStats CartPole::TakeStats() {
  EpisodeStats stats;
  for (Ended& ended : ended_) {
    stats.episodes += ended.episodes;
    stats.return_sum += static_cast<double>(ended.steps);
    ended = {};
  }
  stats.metric_sum = stats.return_sum;
  return stats;
}

std::vector<std::uint8_t> CartPole::SaveState() const {
  std::vector<std::uint8_t> bytes(poles_.size() * sizeof(Pole));
  std::memcpy(bytes.data(), poles_.data(), bytes.size());
  return bytes;
}

void CartPole::LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) {
  if (state.size() != poles_.size() * sizeof(Pole)) throw Error("CartPole: state of another size");
  std::memcpy(poles_.data(), state.data(), state.size());
  Write(0, num_envs(), out);
}

}  // namespace berth
