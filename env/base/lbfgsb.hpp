// Least value of a smooth function between bounds by L-BFGS-B (Byrd, Lu, Nocedal and Zhu, A limited memory
// algorithm for bound constrained optimization, SIAM J. Sci. Comput. 16, 1995), with the projection that
// version 3.0 takes in the subspace (Morales and Nocedal, ACM TOMS 38, 2011). It is what
// scipy.optimize.minimize does with bounds, step by step: for a function that is smooth at its minimum any
// such method would do, but where it has kinks this one stops somewhere on the way, and who wants the point
// that others got must stop there too.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace berth {

struct LbfgsbOptions {
  double decrease =
      2.220446049250313e-09;  // ends where f fell by less, relative to max(|f|, 1): scipy's ftol
  double gradient = 1e-5;     // ends where no projected slope is larger: scipy's gtol
  int memory = 10;            // steps that the curvature is known from
  int tries = 20;             // evaluations in a line search
  int iterations = 15000, evaluations = 15000;
};

struct LbfgsbResult {
  std::vector<double> x;
  double value = 0.0;
  int iterations = 0, evaluations = 0;
  enum class End { kDecrease, kGradient, kNoStep, kLimit } end = End::kNoStep;
};

// f and, in `gradient`, its slopes at x.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

// `low`, `high`: bounds of each x, infinite = none, equal = x is fixed. `start` is moved inside.
// REQUIRES: as many bounds as numbers in start, low <= high. Any thread.
LbfgsbResult MinimizeLbfgsb(const Objective& objective, std::span<const double> start,
                            std::span<const double> low, std::span<const double> high,
                            const LbfgsbOptions& options = {});

}  // namespace berth
