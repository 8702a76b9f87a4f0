// The last value: the random walk's forecast.
#include "env/predict/forecast/forecaster.hpp"

namespace berth {
namespace {

class Last final : public Forecaster {
 public:
  void Fit(std::span<const double> history) override { last_ = history.empty() ? 0.0 : history.back(); }
  void Add(double value) override { last_ = value; }
  double Ahead(int) const override { return last_; }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<Last>(*this); }

 private:
  double last_ = 0.0;
};

}  // namespace

ForecasterInfo LastForecaster() {
  return {"last", "the last value", "naive", {}, [](Params&) -> std::unique_ptr<Forecaster> {
            return std::make_unique<Last>();
          }};
}

}  // namespace berth
