#include "env/predict/goodput/published_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/lbfgsb.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/goodput/speed_box.hpp"

namespace berth::goodput {
namespace {

// The loss of speed_fit.hpp, step by step as `_obj_fn` works it out and as its derivative by hand: at a kink
// its last bits say which side a point is on. A norm of exactly 0 has no slope (not a number).
double LossAndSlopes(std::span<const Row> rows, std::span<const double> x, std::span<double> slopes) {
  const double gamma = x[kGamma], count = static_cast<double>(rows.size());
  double compute = 0.0, step = 0.0;
  Values of_compute{}, of_step{};
  for (const Row& row : rows) {
    const double c = x[kAlphaC] + x[kBetaC] * row.atomic;
    const double n = row.alpha < 0 ? SpeedModel::kTiny + SpeedModel::kTiny * row.beyond
                                   : x[U(row.alpha)] + x[U(row.alpha + 1)] * row.beyond;
    const double log_c = Log(c), log_n = Log(n);
    const double power_c = Exp(gamma * log_c), power_n = Exp(gamma * log_n), powers = power_c + power_n;
    const double log_powers = Log(powers);
    const double u = log_c - row.log_compute, v = log_powers / gamma - row.log_step;
    compute += u * u;
    step += v * v;
    of_compute[kAlphaC] += u / c;
    of_compute[kBetaC] += u / c * row.atomic;
    const double by_c = power_c / c / powers, by_n = power_n / n / powers;  // of the logarithm of the step
    of_step[kAlphaC] += v * by_c;
    of_step[kBetaC] += v * by_c * row.atomic;
    if (row.alpha >= 0) {
      of_step[U(row.alpha)] += v * by_n;
      of_step[U(row.alpha + 1)] += v * by_n * row.beyond;
    }
    of_step[kGamma] +=
        v * ((power_c * log_c + power_n * log_n) / powers / gamma - log_powers / (gamma * gamma));
  }
  const double root_compute = std::sqrt(compute / count), root_step = std::sqrt(step / count);
  for (std::size_t i = 0; i < kUnknowns; ++i)
    slopes[i] = of_compute[i] / count / root_compute + of_step[i] / count / root_step;
  double loss = root_compute + root_step + kGammaWeight * (gamma - 1.0) * (gamma - 1.0);
  slopes[kGamma] += 2.0 * kGammaWeight * (gamma - 1.0);
  double squares = 0.0;
  for (const std::size_t alpha : {kAlphaN, kAlphaR}) {
    const double q = x[alpha + 1] / x[alpha];
    squares += q * q;
    slopes[alpha] -= 2.0 * kBetaWeight * q * q / x[alpha];
    slopes[alpha + 1] += 2.0 * kBetaWeight * q / x[alpha];
  }
  return loss + kBetaWeight * squares;
}

}  // namespace

SpeedModel FitSpeedAsPublished(std::span<const Observation> observations, double tolerance) {
  BERTH_CHECK(!observations.empty(), "nothing seen");
  const std::vector<Row> rows = RowsOf(observations);
  LbfgsbOptions options;
  if (tolerance > 0.0) options.decrease = options.gradient = tolerance;
  const Box box = BoxOf(observations);
  const LbfgsbResult least = MinimizeLbfgsb(
      [&rows](std::span<const double> x, std::span<double> slopes) { return LossAndSlopes(rows, x, slopes); },
      box.start, box.low, box.high, options);
  Values x{};
  std::copy(least.x.begin(), least.x.end(), x.begin());
  return Finished(ModelOf(x), observations);
}

}  // namespace berth::goodput
