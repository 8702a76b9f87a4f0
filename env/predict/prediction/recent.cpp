// A statistic of the last few sizes of the same kind (env/predict/prediction/kind_history.hpp). window=2 with
// the mean is Tsafrir, Etsion & Feitelson's predictor (IEEE TPDS 2007), there by user; window=1 the last
// size.
#include <algorithm>

#include "env/base/portable_math.hpp"
#include "env/predict/prediction/kind_history.hpp"
#include "env/sim/metrics.hpp"

namespace berth {

double Statistic(std::vector<double> values, RecentStatistic statistic, double q) {
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  switch (statistic) {
    case RecentStatistic::kMean:
      for (double value : values) sum += value;
      return sum / n;
    case RecentStatistic::kGeometric:
      for (double value : values) sum += Log(value);
      return Exp(sum / n);
    case RecentStatistic::kMedian:
      q = 0.5;
      [[fallthrough]];
    case RecentStatistic::kQuantile:
      std::sort(values.begin(), values.end());
      return Quantile(values, q);
  }
  return 0.0;
}

namespace {

constexpr ParamInfo kRecentParams[] = {
    {"statistic", "median", "of those sizes: mean | median | quantile | geometric (mean)"},
    {"window", "20", "how many of a kind are remembered, from 1"},
    {"least", "3", "how many a kind must have before it answers, from 1; at most window"},
    {"q", "0.5", "of statistic=quantile, [0, 1]"},
};

class Recent final : public SizePredictor {
 public:
  Recent(KindHistory history, RecentStatistic statistic, double q)
      : history_(std::move(history)), statistic_(statistic), q_(q) {}
  void Forget() override { history_.Forget(); }
  void Add(const JobKind& kind, double size) override { history_.Add(kind, size); }
  double Predict(const JobKind& kind, double attained) const override {
    const std::deque<double>* sizes = history_.Find(kind);
    const double size = sizes == nullptr ? 0.0 : Statistic({sizes->begin(), sizes->end()}, statistic_, q_);
    return size > attained ? size : 2.0 * attained;  // who outran it will do as much again
  }
  std::unique_ptr<SizePredictor> Clone() const override { return std::make_unique<Recent>(*this); }

 private:
  KindHistory history_;
  RecentStatistic statistic_;
  double q_;
};

}  // namespace

SizePredictorInfo RecentSizePredictor() {
  return {"recent", "a statistic of the last sizes of its kind: job type, tenant and gang, else wider",
          "Gibbons, JSSPP 1997; Smith, Foster & Taylor, JSSPP 1998; Tsafrir et al., TPDS 2007", kRecentParams,
          [](Params& params) -> std::unique_ptr<SizePredictor> {
            const auto statistic = static_cast<RecentStatistic>(
                params.Choice("statistic", {"mean", "median", "quantile", "geometric"}));
            const int window = static_cast<int>(params.Integer("window", 1, 1000000));
            const int least = std::min(window, static_cast<int>(params.Integer("least", 1, 1000000)));
            return std::make_unique<Recent>(KindHistory(window, least), statistic,
                                            params.Number("q", 0.0, 1.0));
          }};
}

}  // namespace berth
