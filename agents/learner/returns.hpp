// Returns and advantages as pure functions over spans. Row t of environment i is at t * envs + i.
//
// A step's `discount` multiplies the value of what follows and holds gamma already. Berth's environments take
// several micro-actions within one instant (discount exactly 1, reward 0): there lambda is a parameter of its
// own, since credit need not decay where no time passes. Where every discount is a constant gamma < 1 this is
// ordinary GAE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "env/base/spec.hpp"

namespace berth {

struct GaeInput {
  int steps = 0, envs = 0;                   // T, N
  std::span<const float> reward, discount;   // [T, N]
  std::span<const float> value;              // [T, N] V(s_t)
  std::span<const std::uint8_t> terminated;  // [T, N] the bootstrap is 0
  std::span<const std::uint8_t>
      truncated;                       // [T, N] the bootstrap is final_value; wins only where not terminated
  std::span<const float> final_value;  // [T, N] V(final observation), read only where truncated
  std::span<const float> last_value;   // [N] V(s_T)
};

// Generalised advantage estimation (Schulman et al. 2016, eq. 16), with per-step discounts d_t:
//   delta_t = r_t + d_t V(s_t+1) - V(s_t),   A_t = delta_t + d_t lambda_t A_t+1,   lambda_t = within where
//   d_t = 1.
// The trace is cut at both kinds of end (Pardo et al. 2018). Writes advantage and returns = advantage +
// value, [T, N].
void Gae(const GaeInput& input, double lambda, double lambda_within_instant, std::span<float> advantage,
         std::span<float> returns);

// The n-step return (Sutton 1988), a step at a time: R = sum of rewards, each times the discounts before it,
// over `length` steps; the value of what follows them is multiplied by `discount` (0 after a termination).
// What follows a truncated step is its final observation.
struct NStep {
  double reward = 0.0;
  double discount = 1.0;
  int length = 0;  // 0: no step
  void Add(float step_reward, float step_discount, bool terminated) {
    reward += discount * step_reward;
    discount *= terminated ? 0.0 : static_cast<double>(step_discount);
    ++length;
  }
};

// To mean 0 and deviation 1 (of a sample: n - 1) in place; one value alone has no deviation and stays as it
// is.
void Standardize(std::span<float> values);

// 1 - Var(returns - value) / Var(returns); NaN where the returns do not vary.
double ExplainedVariance(std::span<const float> value, std::span<const float> returns);

}  // namespace berth
