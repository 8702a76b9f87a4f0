#include "tools/forecast/calibration.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr std::size_t kEnough = 30;
// The smallest that `share` of them and one more are at or below.
double Quantile(std::vector<double> sorted, double share) {
  std::sort(sorted.begin(), sorted.end());
  const auto k = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size() + 1)));
  return sorted[std::min(std::max<std::size_t>(k, 1), sorted.size()) - 1];
}

}  // namespace

void StartCalibration::Add(const StartForecast& forecast, double actual, bool settled) {
  if (!std::isfinite(forecast.high)) return;
  // Of one that still waits only that it waits longer than forecast is known.
  if (settled || actual > forecast.high) past_.push_back({forecast.low, forecast.high, actual});
}

void StartCalibration::Correct(double interval, std::vector<StartForecast>& forecasts) const {
  if (past_.size() < kEnough) return;
  std::vector<double> widths, earlier, later;
  for (const Past& its : past_) widths.push_back(its.high - its.low);
  // What is small against the usual width of an interval counts as nothing.
  const double small = std::max(1.0, Quantile(widths, 0.5)), share = 0.5 + interval / 2.0;
  for (const Past& its : past_) {
    earlier.push_back((its.low + small) / (its.actual + small));
    later.push_back((its.actual + small) / (its.high + small));
  }
  const double shrink = Quantile(earlier, share), grow = Quantile(later, share);
  for (StartForecast& forecast : forecasts) {
    if (!std::isfinite(forecast.high)) continue;
    forecast.low = std::clamp((forecast.low + small) / shrink - small, 0.0, forecast.median);
    forecast.high = std::max(forecast.median, (forecast.high + small) * grow - small);
  }
}

}  // namespace berth
