// The value a season ago: Hyndman & Athanasopoulos, Forecasting: Principles and Practice, 3rd ed., §5.2.
#include <vector>

#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/forecast/running_mean.hpp"

namespace berth {
namespace {

constexpr ParamInfo kSeasonalNaiveParams[] = {
    {"season", "24", "steps after which the series repeats, from 1"}};

class SeasonalNaive final : public Forecaster {
 public:
  explicit SeasonalNaive(int season) : season_(static_cast<std::size_t>(season)) {}
  void Fit(std::span<const double> history) override {
    last_.clear(), seen_ = 0, mean_ = {};
    for (double value : history) Add(value);
  }
  void Add(double value) override {
    if (last_.size() < season_) last_.push_back(value);
    last_[seen_++ % season_] = value;
    mean_.Add(value);
  }
  double Ahead(int steps) const override {
    if (last_.size() < season_) return mean_.value();
    return last_[(seen_ + static_cast<std::size_t>(steps) - 1) % season_];
  }
  std::unique_ptr<Forecaster> Clone() const override { return std::make_unique<SeasonalNaive>(*this); }

 private:
  std::size_t season_, seen_ = 0;
  std::vector<double> last_;  // [season] by phase
  RunningMean mean_;
};

}  // namespace

ForecasterInfo SeasonalNaiveForecaster() {
  return {"seasonal_naive", "the value a season ago",
          "Hyndman & Athanasopoulos, Forecasting: Principles and Practice, §5.2", kSeasonalNaiveParams,
          [](Params& params) -> std::unique_ptr<Forecaster> {
            return std::make_unique<SeasonalNaive>(static_cast<int>(params.Integer("season", 1, 100000)));
          }};
}

}  // namespace berth
