// Dependent jobs by their critical path: the waiting job with the longest chain behind it first (upward
// rank), on the type where it finishes first given all who run and all before it; where that type's GPUs will
// be free only later it waits for them, and nobody behind it takes them meanwhile.
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
    Begin(view);
    for (const auto& [rank, job] : order_) {
      const int type = EarliestFinish(view, job);
      if (type < 0) continue;
      const double start = StartOn(view, job, type);
      if (start <= view.now() && plan_.Fits(view, job, type)) plan_.Put(view, job, type);
      Hold(type, view.Gang(job), start + view.RemainingSeconds(job, type));
    }
    plan_.Emit(view, decision);
  }

 private:
  // Who is free now, and when those who run end.
  void Begin(const ClusterView& view) {
    free_at_.resize(U(view.num_types()));
    for (int type = 0; type < view.num_types(); ++type)
      free_at_[U(type)].assign(U(plan_.room(type)), view.now());
    for (int job : view.running()) {
      const double at = view.now() + view.RemainingSeconds(job, view.TypeOf(job));
      auto& list = free_at_[U(view.TypeOf(job))];
      list.insert(list.end(), U(view.Width(job)), at);
    }
    for (auto& list : free_at_) std::sort(list.begin(), list.end());
  }

  // When `job` could start on the type: once as many GPUs are free; kNever = never by what is known.
  double StartOn(const ClusterView& view, int job, int type) const {
    const auto& list = free_at_[U(type)];
    const std::size_t gang = U(view.Gang(job));
    return gang <= list.size() ? list[gang - 1] : kNever;
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

  // The first GPUs to be free are not free again before `end`.
  void Hold(int type, int gang, double end) {
    auto& list = free_at_[U(type)];
    list.erase(list.begin(), list.begin() + gang);
    list.insert(std::upper_bound(list.begin(), list.end(), end), U(gang), end);
  }

  Plan plan_;
  std::vector<double> rank_;                   // [J]
  std::vector<std::pair<double, int>> order_;  // (-rank, job)
  std::vector<std::vector<double>> free_at_;   // [G] s, of each GPU, ascending
};

}  // namespace

SchedulerInfo CriticalPathInfo() {
  return {
      "critical_path",
      "dependent jobs: longest chain behind it first, on the type of earliest finish; O(n log n + n GPUs)",
      "HEFT without insertion: Topcuoglu, Hariri & Wu, IEEE TPDS 2002, equations 3, 6, 9",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      {},
      [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<CriticalPath>(); }};
}

}  // namespace berth
