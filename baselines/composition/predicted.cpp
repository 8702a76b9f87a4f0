// Any rule on predicted remaining time: total steps are predicted from the jobs of the same job type and gang
// that have completed, else of the same job type, of the same tenant, else of all: the mean of those sizes
// that exceed what the job has done, E[S | S > a]. Who outran all that was seen is expected to do as much
// again. Blind: the inner scheduler is told these in place of remaining work.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr ParamInfo kParams[] = {
    {"inner", "srpt", "the scheduler that is told predictions"},
};

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

class Predicted final : public Scheduler {
 public:
  explicit Predicted(Inner inner) : inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }

  void Reset(const ClusterView& view) override {
    seen_.clear();
    inner_.predicted().assign(U(std::max(1, view.num_jobs())), 1.0);  // never empty: empty is the truth
    inner_.Reset(view);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    for (int job : view.completed()) {
      for (const Key& key : Keys(view, job)) seen_[key].Add(view.AttainedSteps(job));
    }
    for (int job : view.active()) inner_.predicted()[U(job)] = Predict(view, job);
    inner_.DecideAll(view, decision);
  }

 private:
  using Key = std::tuple<int, int, int>;  // what is compared, and up to two values of it

  static std::array<Key, 4> Keys(const ClusterView& view, int job) {
    return {Key{0, view.JobType(job), view.Gang(job)}, Key{1, view.JobType(job), 0},
            Key{2, view.TenantOf(job), 0}, Key{3, 0, 0}};
  }

  double Predict(const ClusterView& view, int job) const {
    const double attained = view.AttainedSteps(job);
    for (const Key& key : Keys(view, job)) {
      const auto sizes = seen_.find(key);
      const double mean = sizes == seen_.end() ? 0.0 : sizes->second.MeanAbove(attained);
      if (mean > 0.0) return mean;
    }
    return attained > 0.0 ? 2.0 * attained : view.BestRate(job);  // new, and nothing is known: a second
  }

  Inner inner_;
  std::map<Key, Sizes> seen_;
};

}  // namespace

SchedulerInfo PredictedInfo() {
  return {
      "predicted",
      "any scheduler on remaining time predicted from completed jobs of the same kind; O(n sizes) + inner's",
      "history-based prediction: Gibbons, JSSPP 1997; E[S | S > a]: Harchol-Balter & Downey 1997",
      "",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Predicted>(Inner("predicted: parameter 'inner'", params.Text("inner")));
      },
      /*claims=*/{.types = true, .times = false}};
}

}  // namespace berth
