// Additive Holt-Winters smoothing with a damped trend (Winters, Management Science 1960; Gardner & McKenzie,
// Management Science 1985), as Hyndman & Athanasopoulos write it (Forecasting: Principles and Practice, §8.3
// and §8.7): with season m and damping phi
//   forecast(t + h) = l + (phi + ... + phi^h) b + s(t + h - m)
//   l' = alpha (y - s) + (1 - alpha) (l + phi b)
//   b' = beta (l' - l) + (1 - beta) phi b
//   s' = gamma (y - l - phi b) + (1 - gamma) s
// It begins from the first two seasons, so that a line plus a season is exact from there on. Parameters to be
// fitted are those of the candidates with the least squared error of one-step forecasts, and the defaults
// where none has less than these.
#include <array>
#include <vector>

#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/forecast/running_mean.hpp"
#include "env/predict/forecast/smoothing_parameter.hpp"

namespace berth {
namespace {

constexpr ParamInfo kHoltWintersParams[] = {
    {"season", "24", "steps after which the series repeats, from 2"},
    {"alpha", "fit", "smoothing of the level, [0, 1], or fit"},
    {"beta", "fit", "smoothing of the trend, [0, 1], or fit"},
    {"gamma", "fit", "smoothing of the season, [0, 1], or fit"},
    {"damping", "0.98", "of the trend a step, [0, 1]; 1 = a straight line for ever"},
};
constexpr std::array<double, 8> kAlphas = {0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9};
constexpr std::array<double, 4> kBetas = {0.0, 0.01, 0.05, 0.2};
constexpr std::array<double, 5> kGammas = {0.0, 0.03, 0.1, 0.2, 0.4};
constexpr std::array<double, 3> kDefaults = {0.2, 0.0, 0.1};  // where the past says nothing of them

class HoltWinters final : public Forecaster {
 public:
  HoltWinters(int season, std::array<double, 3> given, double damping)
      : season_(static_cast<std::size_t>(season)), given_(given), damping_(damping) {
    Forget();
  }

  void Fit(std::span<const double> history) override {
    Forget();
    if (history.size() > 2 * season_) Choose(history);
    RunThrough(history);
  }

  void Add(double value) override {
    mean_.Add(value);
    if (!begun_) {
      first_.push_back(value);
      if (first_.size() == 2 * season_) Begin();
      return;
    }
    const auto& [alpha, beta, gamma] = weight_;
    double& s = seasonal_[phase_ % season_];
    const double before = level_ + damping_ * trend_;
    const double level = alpha * (value - s) + (1.0 - alpha) * before;
    trend_ = beta * (level - level_) + (1.0 - beta) * damping_ * trend_;
    s = gamma * (value - before) + (1.0 - gamma) * s;
    level_ = level;
    ++phase_;
  }

  double Ahead(int steps) const override {
    if (!begun_) return mean_.value();
    double damp = 1.0, trend = 0.0;
    for (int k = 0; k < steps; ++k) damp *= damping_, trend += damp * trend_;
    return level_ + trend + seasonal_[(phase_ + static_cast<std::size_t>(steps) - 1) % season_];
  }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<HoltWinters>(*this); }

 private:
  void Forget() {
    for (std::size_t i = 0; i < 3; ++i) weight_[i] = std::isnan(given_[i]) ? kDefaults[i] : given_[i];
  }

  // Level and trend at the first two seasons' line, seasons as the mean distance to it; then both seasons.
  void Begin() {
    const auto m = static_cast<double>(season_);
    double one = 0.0, two = 0.0;
    for (std::size_t i = 0; i < season_; ++i) one += first_[i] / m, two += first_[season_ + i] / m;
    trend_ = (two - one) / m;
    level_ = one - trend_ * (m + 1.0) / 2.0;  // before the first value
    seasonal_.assign(season_, 0.0);
    for (std::size_t i = 0; i < 2 * season_; ++i) {
      seasonal_[i % season_] += (first_[i] - level_ - trend_ * static_cast<double>(i + 1)) / 2.0;
    }
    level_ += trend_ * 2.0 * m;  // on the line, at the last value
    begun_ = true;
    first_.clear();
    phase_ = 0;
  }

  void RunThrough(std::span<const double> history) {
    begun_ = false, first_.clear(), mean_ = {};
    for (double value : history) Add(value);
  }

  double Error(std::span<const double> history) {  // squared, with the weights as they are
    RunThrough(history.first(2 * season_));
    double error = 0.0;
    for (double value : history.subspan(2 * season_)) {
      const double off = value - Ahead(1);
      error += off * off;
      Add(value);
    }
    return error;
  }

  void Choose(std::span<const double> history) {
    double least = Error(history);
    std::array<double, 3> best = weight_;
    ForEachCandidate(given_[0], kAlphas, [&](double alpha) {
      ForEachCandidate(given_[1], kBetas, [&](double beta) {
        ForEachCandidate(given_[2], kGammas, [&](double gamma) {
          weight_ = {alpha, beta, gamma};
          if (const double error = Error(history); error < least) least = error, best = weight_;
        });
      });
    });
    weight_ = best;
  }

  std::size_t season_;
  std::array<double, 3> given_, weight_;  // alpha, beta, gamma
  double damping_;
  bool begun_ = false;
  double level_ = 0.0, trend_ = 0.0;
  std::vector<double> seasonal_;  // [season]
  std::size_t phase_ = 0;         // of the next value
  std::vector<double> first_;     // until two seasons are there
  RunningMean mean_;
};

}  // namespace

ForecasterInfo HoltWintersForecaster() {
  return {"holt_winters", "level, damped trend and additive season by exponential smoothing",
          "Winters 1960; Gardner & McKenzie 1985", kHoltWintersParams,
          [](Params& params) -> std::unique_ptr<Forecaster> {
            const int season = static_cast<int>(params.Integer("season", 2, 100000));
            const std::array<double, 3> given = {SmoothingParameter(params, "alpha"),
                                                 SmoothingParameter(params, "beta"),
                                                 SmoothingParameter(params, "gamma")};
            return std::make_unique<HoltWinters>(season, given, params.Number("damping", 0.0, 1.0));
          }};
}

}  // namespace berth
