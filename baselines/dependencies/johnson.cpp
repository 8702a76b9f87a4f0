// Two stages as two jobs, such as preprocessing on CPUs and training on GPUs after it: stages of different
// jobs overlap as in a pipeline, and Johnson's order of the first stages makes the last one end earliest:
// those with first < second by rising first, then the others by falling second. Second stages start in that
// order too. A job without a second stage has 0 for it.
#include <algorithm>
#include <tuple>

#include "baselines/dependencies/dependents.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"

namespace berth {
namespace {

class Johnson final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView& view) override { place_.assign(U(view.num_jobs()), {}); }

  void Decide(const ClusterView& view, Decision& decision) override {
    keys_.clear();
    for (int job : view.waiting()) keys_.push_back({KeyOf(view, job), job});
    std::sort(keys_.begin(), keys_.end());
    plan_.Begin(view, /*preemptive=*/false);
    for (const auto& [key, job] : keys_) {
      const int type = FastestFit(view, plan_, job);
      if (type >= 0) plan_.Put(view, job, type);
    }
    plan_.Emit(view, decision);
  }

 private:
  using Key = std::tuple<int, double>;  // smaller first

  // A second stage keeps the place of its first one.
  Key KeyOf(const ClusterView& view, int job) {
    Key& key = place_[U(job)];
    if (std::get<0>(key) != 0) return key;
    const double first = MeanSeconds(view, job);
    double second = 0.0;
    const auto* stages = view.Find<StageState>();
    if (stages != nullptr) {
      for (int child : stages->children[U(job)]) {
        if (view.IsBlocked(child)) second += MeanSeconds(view, child);
      }
    }
    key = first < second ? Key{1, first} : Key{2, -second};
    if (stages != nullptr) {
      for (int child : stages->children[U(job)]) place_[U(child)] = key;
    }
    return key;
  }

  Plan plan_;
  std::vector<Key> place_;                 // [J] (0, 0) = not known yet
  std::vector<std::pair<Key, int>> keys_;  // of those that wait
};

}  // namespace

SchedulerInfo JohnsonInfo() {
  return {
      "johnson",
      "pipelines the stages of dependent jobs by Johnson's order, least makespan of a flow shop; O(n log n)",
      "Johnson, Naval Research Logistics Quarterly 1954",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      {},
      [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<Johnson>(); }};
}

}  // namespace berth
