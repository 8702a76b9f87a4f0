// What the fits of a speed model have in common: the unknowns, their bounds and start, and what every fit
// does afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/goodput/speed_fit.hpp"

namespace berth::goodput {

inline constexpr int kUnknowns = 7;
inline constexpr double kGammaWeight = 1e-3, kBetaWeight = 1e-2;
inline constexpr double kLeast = 1e-8;  // of alpha and beta
enum Unknown { kAlphaC, kBetaC, kAlphaN, kBetaN, kAlphaR, kBetaR, kGamma };
using Values = std::array<double, kUnknowns>;

inline SpeedModel ModelOf(const Values& x) {
  return {x[kAlphaC], x[kBetaC], x[kAlphaN], x[kBetaN], x[kAlphaR], x[kBetaR], x[kGamma]};
}

// An observation, with what of it does not depend on the parameters.
struct Row {
  double atomic, beyond;  // beyond: replicas, as in SpeedModel::Network
  int alpha;              // kAlphaN, kAlphaR; -1 = one GPU
  double log_compute, log_step;
};

inline std::vector<Row> RowsOf(std::span<const Observation> seen) {
  std::vector<Row> rows;
  for (const Observation& o : seen) {
    BERTH_CHECK(o.time.compute > 0.0 && o.time.step > 0.0, o.time.compute, " ", o.time.step);
    rows.push_back({static_cast<double>(o.atomic), std::max(o.shape.replicas - 2.0, SpeedModel::kTiny),
                    o.shape.nodes > 1      ? kAlphaN
                    : o.shape.replicas > 1 ? kAlphaR
                                           : -1,
                    Log(o.time.compute), Log(o.time.step)});
  }
  return rows;
}

struct Box {
  Values low, high, start;
};

// What `fit_perf_params` fixes, and where it starts.
inline Box BoxOf(std::span<const Observation> seen) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Box box{{kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, 1.0},
          {kInfinity, kInfinity, kInfinity, kInfinity, kInfinity, kInfinity, 10.0},
          {1e-1, 1e-2, 1e-1, 1e-2, 1e-1, 1e-2, 1.0 + 1e-3}};
  bool one_atomic = true, nodes = false, within = false, many = false;
  double compute = 0.0;
  for (const Observation& o : seen) {
    one_atomic &= o.atomic == seen[0].atomic;
    nodes |= o.shape.nodes > 1;
    within |= o.shape.nodes == 1 && o.shape.replicas > 1;
    many |= o.shape.replicas > 2;
    compute += o.time.compute;
  }
  const auto fix = [&box](Unknown i, double value) { box.low[i] = box.high[i] = box.start[i] = value; };
  if (one_atomic) fix(kAlphaC, compute / static_cast<double>(seen.size()) / 2.0);
  if (!nodes) fix(kAlphaN, kLeast), fix(kBetaN, kLeast);
  if (!within) fix(kAlphaR, kLeast), fix(kBetaR, kLeast);
  if (!many) fix(kBetaN, kLeast), fix(kBetaR, kLeast);
  return box;
}

// What nobody saw of several nodes is at least a tenth worse than what was seen within one.
inline SpeedModel Finished(SpeedModel model, std::span<const Observation> seen) {
  const bool nodes =
      std::any_of(seen.begin(), seen.end(), [](const Observation& o) { return o.shape.nodes > 1; });
  if (!nodes) {
    model.alpha_n = std::max(model.alpha_n, 1.1 * model.alpha_r);
    model.beta_n = std::max(model.beta_n, 1.1 * model.beta_r);
  }
  return model;
}

}  // namespace berth::goodput
