// Dependent jobs by their critical path: the waiting job with the longest chain behind it first (upward
// rank), on the type where it would finish first among those with room; it waits for a faster type that will
// be free in time when that finishes sooner.
#include <algorithm>

#include "baselines/dependencies/dependents.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

class CriticalPath final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    rank_.assign(U(view.num_jobs()), -1.0);
    order_.clear();
    const bool depend = view.Find<StageState>() != nullptr;
    for (int job : view.waiting()) {
      const double rank = depend ? UpwardRank(view, job, rank_) : MeanSeconds(view, job);
      order_.push_back({-rank, job});
    }
    std::sort(order_.begin(), order_.end());
    plan_.Begin(view, /*preemptive=*/false);
    Releases(view);
    for (const auto& [rank, job] : order_) {
      const int type = EarliestFinish(view, job);
      if (type >= 0 && plan_.Fits(view, job, type)) plan_.Put(view, job, type);
      // Otherwise GPUs of that type will be free in time: the next job may not take them before.
      if (type >= 0 && !plan_.Placed(job)) Reserve(view, job, type);
    }
    plan_.Emit(view, decision);
  }

 private:
  // When the GPUs of each type that are busy now will be free, ascending.
  void Releases(const ClusterView& view) {
    releases_.assign(U(view.num_types()), {});
    reserved_.assign(U(view.num_types()), 0);
    for (int job : view.running()) {
      const double at = view.now() + view.RemainingSeconds(job, view.TypeOf(job));
      auto& list = releases_[U(view.TypeOf(job))];
      list.insert(list.end(), U(view.Width(job)), at);
    }
    for (auto& list : releases_) std::sort(list.begin(), list.end());
  }

  // When `job` could start on the type: now, or once enough GPUs are free; kNever = never by what is known.
  double StartOn(const ClusterView& view, int job, int type) const {
    const int missing = view.Gang(job) - (plan_.room(type) - std::min(plan_.room(type), reserved_[U(type)]));
    if (missing <= 0) return view.now();
    const auto& list = releases_[U(type)];
    const std::size_t at = U(missing - 1 + std::max(0, reserved_[U(type)] - plan_.room(type)));
    return at < list.size() ? list[at] : kNever;
  }

  // Topcuoglu et al. 2002, equations 6 and 9: the type of least finish time; -1 = nowhere by what is known.
  int EarliestFinish(const ClusterView& view, int job) const {
    int best = -1;
    double least = kNever;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) <= 0.0) continue;
      const double finish = StartOn(view, job, type) + view.RemainingSeconds(job, type);
      if (finish < least) least = finish, best = type;
    }
    return best;
  }

  void Reserve(const ClusterView& view, int job, int type) { reserved_[U(type)] += view.Gang(job); }

  Plan plan_;
  std::vector<double> rank_;                   // [J]
  std::vector<std::pair<double, int>> order_;  // (-rank, job)
  std::vector<std::vector<double>> releases_;  // [G]
  std::vector<int> reserved_;                  // [G] GPUs for jobs that wait for them
};

}  // namespace

SchedulerInfo CriticalPathInfo() {
  return {"critical_path",
          "dependent jobs: longest chain behind it first, on the type of earliest finish; O(n log n + n G)",
          "HEFT without insertion: Topcuoglu, Hariri & Wu, IEEE TPDS 2002, equations 3, 6, 9",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<CriticalPath>(); }};
}

}  // namespace berth
