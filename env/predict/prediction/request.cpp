// What the user asked for, times what such jobs used of what they asked for: the median of size over request
// of the last jobs of the same kind. Requests are upper bounds, as a job is killed at its own (Tang, Lan,
// Desai & Buettner, IPDPS 2010: adjusting user estimates by history). A job that asks for nothing is
// predicted as by `recent`.
#include <algorithm>

#include "env/predict/prediction/kind_history.hpp"

namespace berth {
namespace {

constexpr ParamInfo kRequestParams[] = {
    {"adjust", "true", "false = the request as it is"},
    {"window", "20", "how many of a kind are remembered, from 1"},
    {"least", "3", "how many a kind must have before it answers, from 1; at most window"},
};

class Request final : public SizePredictor {
 public:
  Request(bool adjust, const KindHistory& empty) : adjust_(adjust), ratios_(empty), sizes_(empty) {}
  void Forget() override { ratios_.Forget(), sizes_.Forget(); }
  void Add(const JobKind& kind, double size) override {
    sizes_.Add(kind, size);
    if (kind.requested > 0.0) ratios_.Add(kind, size / kind.requested);
  }
  double Predict(const JobKind& kind, double attained) const override {
    const double size = Guess(kind);
    return size > attained ? size : 2.0 * attained;
  }
  std::unique_ptr<SizePredictor> Clone() const override { return std::make_unique<Request>(*this); }

 private:
  static double Median(const std::deque<double>* values, double otherwise) {
    return values == nullptr ? otherwise
                             : Statistic({values->begin(), values->end()}, RecentStatistic::kMedian, 0.5);
  }
  double Guess(const JobKind& kind) const {
    if (!(kind.requested > 0.0)) return Median(sizes_.Find(kind), 0.0);
    return adjust_ ? kind.requested * Median(ratios_.Find(kind), 1.0) : kind.requested;
  }

  bool adjust_;
  KindHistory ratios_, sizes_;
};

}  // namespace

SizePredictorInfo RequestSizePredictor() {
  return {"request", "the user's request times what such jobs used of theirs",
          "Tang, Lan, Desai & Buettner, IPDPS 2010", kRequestParams,
          [](Params& params) -> std::unique_ptr<SizePredictor> {
            const bool adjust = params.Bool("adjust");
            const int window = static_cast<int>(params.Integer("window", 1, 1000000));
            const int least = std::min(window, static_cast<int>(params.Integer("least", 1, 1000000)));
            return std::make_unique<Request>(adjust, KindHistory(window, least));
          }};
}

}  // namespace berth
