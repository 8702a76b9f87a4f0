// GAE and V-trace as parallel scans. Both are x_t = add_t + multiply_t x_(t+1) backwards in time, and such
// maps compose to one of their kind: an associative operation (Blelloch 1990, section 1.4), which 32 lanes
// combine in log 32 steps. Each lane has a run of steps: it composes them, takes from the scan what comes
// from later runs, and goes through its run once more.
#pragma once

#include <cstdint>

#include "agents/gpu/cuda/numbers.hpp"
#include "agents/gpu/cuda/warp.hpp"

namespace berth::cuda {

// x -> add + multiply x
struct Affine {
  double add = 0.0, multiply = 1.0;
};
// The map that applies `first`, then `then`.
BERTH_HOST_DEVICE Affine Then(const Affine& first, const Affine& then) {
  return {then.add + then.multiply * first.add, then.multiply * first.multiply};
}

// Columns of a rollout, row t of environment i at t * envs + i (agents/learner/returns.hpp).
struct ReturnColumns {
  int steps = 0, envs = 0;
  const float *reward = nullptr, *discount = nullptr, *value = nullptr;
  const std::uint8_t *terminated = nullptr, *truncated = nullptr;
  const float *final_value = nullptr, *last_value = nullptr;  // [T, N], read where truncated; [N]
  double lambda = 1.0, lambda_within_instant = 1.0;
  const float* log_ratio = nullptr;   // V-trace: [T, N] log pi - log mu of the action taken
  double rho_bar = 1.0, c_bar = 1.0;  // ... and where the ratio is cut off
};

struct StepFacts {
  double target;  // r + discount * value of what follows
  double discount, value, decay;
  bool ended;
};

// Generalised advantages (Schulman et al. 2016, eq. 16), per-step discounts; the trace is cut at both kinds
// of end.
BERTH_HOST_DEVICE StepFacts FactsOf(const ReturnColumns& in, int t, int i) {
  const auto n = static_cast<std::int64_t>(in.envs);
  const std::int64_t k = t * n + i;
  StepFacts out;
  out.discount = in.discount[k];
  double next = t + 1 == in.steps ? in.last_value[i] : in.value[k + n];
  if (in.truncated[k]) next = in.final_value[k];
  if (in.terminated[k]) next = 0.0;
  out.ended = in.terminated[k] || in.truncated[k];
  out.decay = out.ended ? 0.0 : out.discount * (out.discount < 1.0 ? in.lambda : in.lambda_within_instant);
  out.value = in.value[k];
  out.target = in.reward[k] + out.discount * next;
  return out;
}

struct GaeRule {
  ReturnColumns in;
  BERTH_HOST_DEVICE Affine Map(int t, int i) const {
    const StepFacts step = FactsOf(in, t, i);
    return {step.target - step.value, step.decay};
  }
  // Of what comes from step t + 1 and what step t makes of it.
  BERTH_HOST_DEVICE void Write(int t, int i, double, double trace, float* advantage, float* returns) const {
    const std::int64_t k = static_cast<std::int64_t>(t) * in.envs + i;
    *advantage = static_cast<float>(trace);
    *returns = static_cast<float>(trace + in.value[k]);
  }
};

// V-trace (Espeholt et al. 2018, eq. 1, section 4.1, with c_i = lambda min(c_bar, ratio)): what comes out as
// `returns` is v_s, and the advantage is that of its policy gradient, rho_s (r_s + discount v_(s+1) -
// V(x_s)).
struct VTraceRule {
  ReturnColumns in;
  BERTH_HOST_DEVICE double Ratio(int t, int i) const {
    const float x = in.log_ratio[static_cast<std::int64_t>(t) * in.envs + i];
    return static_cast<double>(Exp(x));
  }
  BERTH_HOST_DEVICE Affine Map(int t, int i) const {
    const StepFacts step = FactsOf(in, t, i);
    const double ratio = Ratio(t, i), rho = ratio < in.rho_bar ? ratio : in.rho_bar;
    return {rho * (step.target - step.value), step.decay * (ratio < in.c_bar ? ratio : in.c_bar)};
  }
  BERTH_HOST_DEVICE void Write(int t, int i, double later, double trace, float* advantage,
                               float* returns) const {
    const StepFacts step = FactsOf(in, t, i);
    const double ratio = Ratio(t, i), rho = ratio < in.rho_bar ? ratio : in.rho_bar;
    const double next = step.ended ? 0.0 : step.discount * later;  // discount (v_(t+1) - V(x_(t+1)))
    *advantage = static_cast<float>(rho * (step.target + next - step.value));
    *returns = static_cast<float>(trace + step.value);
  }
};

// Environment i by one warp.
template <class Rule>
BERTH_HOST_DEVICE void ScanBackward(const Warp& warp, const Rule& rule, int i, float* advantage,
                                    float* returns) {
  const int steps = rule.in.steps, run = (steps + kLanes - 1) / kLanes;
  // Lane 0 has the last run of time, so that scanning up the lanes goes back in time.
  const auto first = [&](int lane) { return steps - 1 - lane * run; };
  const auto after = [&](int lane) {
    const int last = steps - 1 - (lane + 1) * run;
    return last < -1 ? -1 : last;
  };
  PerLane<Affine> maps;
  warp.Each([&](int lane) {
    Affine all;
    for (int t = first(lane); t > after(lane); --t) all = Then(all, rule.Map(t, i));
    maps[lane] = all;
  });
  warp.Scan(maps, [](const Affine& earlier, const Affine& later) { return Then(earlier, later); });
  const PerLane<Affine> before = warp.Before(maps, Affine{});
  warp.Each([&](int lane) {
    double trace = before[lane].add;  // the map from the end, of 0
    for (int t = first(lane); t > after(lane); --t) {
      const Affine map = rule.Map(t, i);
      const double later = trace;
      trace = map.add + map.multiply * trace;
      const std::int64_t k = static_cast<std::int64_t>(t) * rule.in.envs + i;
      rule.Write(t, i, later, trace, advantage + k, returns + k);
    }
  });
}

}  // namespace berth::cuda
