#include "tools/forecast/calibration.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr std::size_t kEnough = 30;
constexpr double kLeastWidth = 0.05;  // of the median, and in seconds
// An interval without width says that nothing varies; it must be able to grow.
double WidthOf(const StartForecast& forecast) {
  return std::max({forecast.high - forecast.low, kLeastWidth * forecast.median, 1.0});
}

void Insert(std::vector<double>& sorted, double value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

// The smallest that `share` of them and one more are at or below.
double Quantile(const std::vector<double>& sorted, double share) {
  const auto k = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size() + 1)));
  return sorted[std::min(std::max<std::size_t>(k, 1), sorted.size()) - 1];
}

}  // namespace

void StartCalibration::Add(const StartForecast& forecast, double actual, bool settled) {
  if (!std::isfinite(forecast.high)) return;
  // Of one that still waits only that it waits longer than forecast is known.
  if (!settled && actual <= forecast.high) return;
  const double width = WidthOf(forecast);
  Insert(low_, (forecast.low - actual) / width);
  Insert(high_, (actual - forecast.high) / width);
}

void StartCalibration::Correct(double interval, StartForecast& forecast) const {
  if (low_.size() < kEnough || !std::isfinite(forecast.high)) return;
  const double share = 0.5 + interval / 2.0, width = WidthOf(forecast);
  forecast.low = std::max(0.0, forecast.low - width * Quantile(low_, share));
  forecast.high += width * Quantile(high_, share);
  forecast.low = std::min(forecast.low, forecast.median);
  forecast.high = std::max(forecast.high, forecast.median);
}

}  // namespace berth
