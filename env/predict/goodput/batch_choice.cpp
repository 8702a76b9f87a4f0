#include "env/predict/goodput/batch_choice.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth::goodput {
namespace {

constexpr double kSlack = 1e-8;  // adaptdl's `eps`: what a ceiling forgives
constexpr int kTotals = 50;      // numpy.geomspace's default

int Ceil(double x) {
  return static_cast<int>(std::ceil(x - kSlack));
}

void CheckLimits(const BatchLimits& limits, int replicas) {
  BERTH_CHECK(1 <= limits.min_atomic && limits.min_atomic <= limits.max_atomic, limits.min_atomic, " ",
              limits.max_atomic);
  BERTH_CHECK(1 <= limits.initial && limits.initial <= limits.max_total, limits.initial, " ",
              limits.max_total);
  BERTH_CHECK(replicas >= 1, replicas);
}

}  // namespace

double Goodput(const BatchLimits& limits, int replicas, BatchSplit split, const GradientStatistics& gradient,
               const StepTime& time) {
  const double total = split.Total(replicas);
  return total / TotalTime(time, split.accumulation) * Efficiency(gradient, total / limits.initial);
}

BatchSplit SplitFixed(const BatchLimits& limits, int replicas, int target) {
  CheckLimits(limits, replicas);
  BERTH_CHECK(target >= 1, target);
  const int local = Ceil(static_cast<double>(target) / replicas);
  int accumulation = Ceil(static_cast<double>(local) / limits.max_atomic) - 1;
  if (replicas == 1 && target > limits.initial) accumulation = std::max(accumulation, 1);
  const BatchSplit split{Ceil(static_cast<double>(local) / (accumulation + 1)), accumulation};
  return WithinMaxTotal(limits, replicas, split);
}

BatchSplit SplitTuned(const BatchLimits& limits, int replicas, int target) {
  const BatchSplit split = SplitFixed(limits, replicas, target);
  if (replicas > 1 || split.accumulation > 0) return split;
  return WithinMaxTotal(limits, replicas, {(target + 1) / 2, 1});
}

BatchSplit SplitLeast(const BatchLimits& limits, int replicas) {
  return SplitFixed(limits, replicas, std::max(limits.initial, limits.min_atomic * replicas));
}

BatchSplit WithinMaxTotal(const BatchLimits& limits, int replicas, BatchSplit split) {
  split.atomic = std::min(split.atomic, limits.max_total / (replicas * (split.accumulation + 1)));
  return split;
}

std::vector<BatchSplit> BatchCandidates(const BatchLimits& limits, int replicas) {
  CheckLimits(limits, replicas);
  const int least = std::max(limits.initial, limits.min_atomic * replicas);
  std::vector<BatchSplit> candidates;
  if (least > limits.max_total) return candidates;
  // numpy.geomspace: powers of ten at equal steps
  const double low = Log10(least), step = (Log10(limits.max_total) - low) / (kTotals - 1);
  for (int k = 0; k < kTotals; ++k) {
    const double local = Pow(10.0, low + k * step) / replicas;
    int accumulation = Ceil(local / limits.max_atomic) - 1;
    if (replicas == 1 && local > limits.initial + kSlack) accumulation = std::max(accumulation, 1);
    const BatchSplit split{Ceil(local / (accumulation + 1)), accumulation};
    if (split.atomic < limits.min_atomic || split.atomic > limits.max_atomic) continue;
    if (candidates.empty() || !(candidates.back() == split)) candidates.push_back(split);
  }
  return candidates;
}

}  // namespace berth::goodput
