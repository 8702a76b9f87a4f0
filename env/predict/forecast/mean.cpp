// The mean of the whole past.
#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/forecast/running_mean.hpp"

namespace berth {
namespace {

class Mean final : public Forecaster {
 public:
  void Fit(std::span<const double> history) override {
    mean_ = {};
    for (double value : history) mean_.Add(value);
  }
  void Add(double value) override { mean_.Add(value); }
  double Ahead(int) const override { return mean_.value(); }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<Mean>(*this); }

 private:
  RunningMean mean_;
};

}  // namespace

ForecasterInfo MeanForecaster() {
  return {"mean", "the mean of the whole past", "naive", {}, [](Params&) -> std::unique_ptr<Forecaster> {
            return std::make_unique<Mean>();
          }};
}

}  // namespace berth
