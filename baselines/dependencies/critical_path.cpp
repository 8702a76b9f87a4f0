// Dependent jobs by their critical path: the waiting job with the longest chain behind it first (upward
// rank), on the type where it finishes first given all who run and all before it. Where that type's GPUs will
// be free only later they are reserved for it, and who comes behind takes them meanwhile only to end before.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "baselines/dependencies/dependents.hpp"
#include "baselines/queue/conservative_backfill.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/predict/run_times.hpp"
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
    Profile(view);
    for (const auto& [rank, job] : order_) {
      if (plan_.total_room() == 0) break;  // plans are made afresh next time
      const Slot slot = EarliestFinish(view, job);
      if (slot.type < 0) continue;
      free_[U(slot.type)].Reserve(slot.start, slot.end, view.Gang(job));
      if (slot.start <= view.now() && plan_.Fits(view, job, slot.type)) plan_.Put(view, job, slot.type);
    }
    plan_.Emit(view, decision);
  }

 private:
  struct Slot {
    int type = -1;                        // -1 = nowhere by what is known
    double start = kNever, end = kNever;  // s
  };

  // Who is free now, and when those who run end.
  void Profile(const ClusterView& view) {
    free_.resize(U(view.num_types()));
    for (int type = 0; type < view.num_types(); ++type) free_[U(type)].Reset(view.now(), plan_.room(type));
    ends_.clear();
    const double soonest = std::nextafter(view.now(), kNever);  // of a job that outran its estimate
    for (int job : view.running()) {
      const double end = view.now() + SecondsLeft(view, job);
      ends_.emplace_back(std::max(end, soonest), job);
    }
    std::sort(ends_.begin(), ends_.end());
    for (const auto& [end, job] : ends_) free_[U(view.TypeOf(job))].Release(end, GivenBack(view, job));
  }

  // Topcuoglu et al. 2002, equations 6 and 9, with insertion into gaps: the type of least finish time.
  Slot EarliestFinish(const ClusterView& view, int job) {
    Slot best;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) <= 0.0) continue;
      const double seconds = view.RemainingSeconds(job, type);
      const double start = free_[U(type)].EarliestStart(view.Gang(job), seconds);
      if (start + seconds < best.end) best = {type, start, start + seconds};
    }
    return best;
  }

  Plan plan_;
  std::vector<double> rank_;                   // [J]
  std::vector<std::pair<double, int>> order_;  // (-rank, job)
  std::vector<std::pair<double, int>> ends_;   // (s, job) of those who run
  std::vector<AvailabilityProfile> free_;      // [G]
};

}  // namespace

SchedulerInfo CriticalPathInfo() {
  return {"critical_path",
          "dependent jobs: longest chain behind it first, on the type of earliest finish; O(n^2 types)",
          "HEFT: Topcuoglu, Hariri & Wu, IEEE TPDS 2002, equations 3, 6, 9",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<CriticalPath>(); }};
}

}  // namespace berth
