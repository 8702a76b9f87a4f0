// Simple exponential smoothing (Brown 1959): level <- alpha y + (1 - alpha) level, which is the forecast for
// any step ahead. alpha=fit takes the candidate with the least squared error of one-step forecasts, and the
// default where none has less than that.
#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/forecast/smoothing_parameter.hpp"

namespace berth {
namespace {

constexpr ParamInfo kExponentialParams[] = {{"alpha", "fit", "weight of the last value, [0, 1], or fit"}};
constexpr double kDefault = 0.2;  // where the past says nothing of it
constexpr double kCandidates[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

class Exponential final : public Forecaster {
 public:
  explicit Exponential(double alpha) : given_(alpha), alpha_(std::isnan(alpha) ? kDefault : alpha) {}

  void Fit(std::span<const double> history) override {
    alpha_ = std::isnan(given_) ? kDefault : given_;
    double least = RunThrough(history), best = alpha_;
    ForEachCandidate(given_, kCandidates, [&](double alpha) {
      alpha_ = alpha;
      if (const double error = RunThrough(history); error < least) least = error, best = alpha;
    });
    alpha_ = best;
    RunThrough(history);
  }
  void Add(double value) override {
    level_ = empty_ ? value : level_ + alpha_ * (value - level_);
    empty_ = false;
  }
  double Ahead(int) const override { return level_; }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<Exponential>(*this); }

 private:
  double RunThrough(std::span<const double> history) {  // the squared error
    empty_ = true, level_ = 0.0;
    double error = 0.0;
    for (double value : history) {
      if (!empty_) error += (value - level_) * (value - level_);
      Add(value);
    }
    return error;
  }

  double given_, alpha_, level_ = 0.0;
  bool empty_ = true;
};

}  // namespace

ForecasterInfo ExponentialForecaster() {
  return {"exponential", "simple exponential smoothing", "Brown, Statistical Forecasting, 1959",
          kExponentialParams, [](Params& params) -> std::unique_ptr<Forecaster> {
            return std::make_unique<Exponential>(SmoothingParameter(params, "alpha"));
          }};
}

}  // namespace berth
