// The mean of those sizes of the same kind that exceed what the job has done, E[S | S > a]; kinds are
// compared by job type and gang, else job type, else tenant, else all. Who outran all of its kind that were
// seen is compared with the next wider kind.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "env/predict/prediction/size_predictor.hpp"

namespace berth {
namespace {

// Sizes seen. O(sizes) both to add one and for the mean of those above a value.
class Sizes {
 public:
  void Add(double size) { sizes_.insert(std::upper_bound(sizes_.begin(), sizes_.end(), size), size); }
  // Mean of the sizes above `attained`; 0 where there is none.
  double MeanAbove(double attained) const {
    const auto first = std::upper_bound(sizes_.begin(), sizes_.end(), attained);
    double sum = 0.0;
    for (auto it = first; it != sizes_.end(); ++it) sum += *it;
    return first == sizes_.end() ? 0.0 : sum / static_cast<double>(sizes_.end() - first);
  }

 private:
  std::vector<double> sizes_;  // ascending
};

class Residual final : public SizePredictor {
 public:
  void Forget() override { seen_.clear(); }
  void Add(const JobKind& kind, double size) override {
    for (const Key& key : Keys(kind)) seen_[key].Add(size);
  }
  double Predict(const JobKind& kind, double attained) const override {
    for (const Key& key : Keys(kind)) {
      const auto sizes = seen_.find(key);
      const double mean = sizes == seen_.end() ? 0.0 : sizes->second.MeanAbove(attained);
      if (mean > 0.0) return mean;
    }
    return 2.0 * attained;  // it outran all that was seen
  }
  std::unique_ptr<SizePredictor> Clone() const override { return std::make_unique<Residual>(*this); }

 private:
  using Key = std::tuple<int, int, int>;  // what is compared, and up to two values of it

  static std::array<Key, 4> Keys(const JobKind& kind) {
    return {Key{0, kind.job_type, kind.gang}, Key{1, kind.job_type, 0}, Key{2, kind.tenant, 0}, Key{3, 0, 0}};
  }

  std::map<Key, Sizes> seen_;
};

}  // namespace

SizePredictorInfo ResidualSizePredictor() {
  return {"residual",
          "the mean of the sizes of its kind that exceed what it has done",
          "E[S | S > a]: Harchol-Balter & Downey 1997; by kinds: Gibbons, JSSPP 1997",
          {},
          [](Params&) -> std::unique_ptr<SizePredictor> { return std::make_unique<Residual>(); }};
}

}  // namespace berth
