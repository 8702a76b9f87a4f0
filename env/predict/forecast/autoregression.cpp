// An autoregression fitted by least squares (Box & Jenkins 1970, ch. 7; conditional on the first values):
//   y(t) = c + a_1 y(t - 1) + ... + a_p y(t - p)
// and, with a season, a_s y(t - season) beside them. Further steps ahead put forecasts in the place of
// values. Least squares ask for no stability: where that leads far beyond all that was seen, the mean is
// expected, as before the first fit.
#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/least_squares.hpp"
#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/forecast/running_mean.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAutoregressionParams[] = {
    {"order", "3", "how many values before are read, from 1"},
    {"season", "0", "steps after which the series repeats: one more value that is read; 0 = none"},
};
constexpr double kRidge = 1e-9;  // a constant series determines no coefficients
constexpr double kFar = 4.0;     // times the largest magnitude seen: no forecast but one run wild

class Autoregression final : public Forecaster {
 public:
  Autoregression(int order, int season) {
    for (int lag = 1; lag <= order; ++lag) lags_.push_back(static_cast<std::size_t>(lag));
    if (season > order) lags_.push_back(static_cast<std::size_t>(season));
  }

  // Needs three rows a coefficient; with fewer the mean is expected.
  void Fit(std::span<const double> history) override {
    const std::size_t reach = lags_.back(), unknowns = 1 + lags_.size();
    mean_ = {}, largest_ = 0.0, recent_.clear(), coefficients_.clear();
    if (history.size() >= reach + 3 * unknowns) {
      NormalEquations equations(static_cast<int>(unknowns));
      std::vector<double> row(unknowns, 1.0);
      for (std::size_t t = reach; t < history.size(); ++t) {
        for (std::size_t k = 0; k < lags_.size(); ++k) row[k + 1] = history[t - lags_[k]];
        equations.Add(row, history[t]);
      }
      coefficients_ = equations.Solve(kRidge);
    }
    for (double value : history) Add(value);
  }

  void Add(double value) override {
    mean_.Add(value);
    largest_ = std::max(largest_, std::abs(value));
    recent_.push_back(value);
    const std::size_t reach = lags_.back();
    if (recent_.size() >= 2 * reach) {  // now and then, so that a value costs O(1)
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(reach));
    }
  }

  double Ahead(int steps) const override {
    if (coefficients_.empty() || recent_.size() < lags_.back()) return mean_.value();
    std::vector<double> values(recent_);
    for (int step = 0; step < steps; ++step) {
      double next = coefficients_[0];
      for (std::size_t k = 0; k < lags_.size(); ++k)
        next += coefficients_[k + 1] * values[values.size() - lags_[k]];
      if (!(std::abs(next) <= kFar * largest_)) return mean_.value();  // or not finite
      values.push_back(next);
    }
    return values.back();
  }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<Autoregression>(*this); }

 private:
  std::vector<std::size_t> lags_;     // ascending
  std::vector<double> coefficients_;  // constant, then by lag; empty = not fitted
  std::vector<double> recent_;        // at least the last `lags_.back()` values, once there are so many
  RunningMean mean_;
  double largest_ = 0.0;  // magnitude seen
};

}  // namespace

ForecasterInfo AutoregressionForecaster() {
  return {"ar", "autoregression fitted by least squares", "Box & Jenkins, Time Series Analysis, 1970",
          kAutoregressionParams, [](Params& params) -> std::unique_ptr<Forecaster> {
            const int order = static_cast<int>(params.Integer("order", 1, 1000));
            return std::make_unique<Autoregression>(order,
                                                    static_cast<int>(params.Integer("season", 0, 100000)));
          }};
}

}  // namespace berth
