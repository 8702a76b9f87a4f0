// Least attained service: who has had least goes first, on the fastest type with room. Blind: nothing of the
// future is read. Service is GPU-seconds of the job's fastest type, so an hour on a slow type counts for less
// than one on a fast type, and a gang of four attains four times as fast as one GPU (Tiresias'
// two-dimensional LAS).
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "baselines/preemptive/service_distribution.hpp"
#include "baselines/preemptive/waiting_order.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kLasParams[] = {
    {"quantum", "3600", "GPU-seconds that count as equal service, in arrival order; 0 = none"},
    kSliceParam,
};

class Las final : public Scheduler {
 public:
  Las(double quantum, double slice)
      : quantum_(quantum),
        slice_(slice),
        waiting_([this](const ClusterView& view, int job, int) { return Service(view, job); }) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView&) override { waiting_.Reset(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    waiting_.Track(view, /*lanes=*/1);
    running_.clear();
    for (int job : view.running()) running_.push_back({Service(view, job), job});
    std::sort(running_.begin(), running_.end());
    Fill(view);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, running_, decision);
    const bool all = static_cast<int>(plan_.placed().size()) == view.num_active();
    if (slice_ > 0.0 && !all) decision.wake_at = std::min(decision.wake_at, view.now() + slice_);
  }

 private:
  double Service(const ClusterView& view, int job) const {
    const double service = view.AttainedSteps(job) / view.BestRate(job) * view.Gang(job);
    return quantum_ > 0.0 ? std::floor(service / quantum_ * (1.0 + kServiceRounding)) : service;
  }

  // One pass over those that run and those that wait, in order of service.
  void Fill(const ClusterView& view) {
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    auto next = running_.begin();
    while (plan_.total_room() > 0) {
      int room = 0;  // a larger gang than this fits nowhere
      for (int type = 0; type < view.num_types(); ++type) room = std::max(room, plan_.room(type));
      const WaitingOrder::Pair front = waiting_.Front(std::span<const int>(&room, 1));
      int job = front.job;
      if (next != running_.end() && (job < 0 || *next < std::pair(front.key, job))) {
        job = (next++)->second;
      } else if (job >= 0) {
        waiting_.Pop();
      } else {
        return;
      }
      const int type = FastestOrHere(view, plan_, job);
      if (type >= 0) PutOrStay(view, plan_, job, type);
    }
  }

  double quantum_, slice_;
  Plan plan_;
  WaitingOrder waiting_;  // by service
  Ranking running_;       // by service
};

}  // namespace

SchedulerInfo LasInfo() {
  return {"las",
          "preemptive least attained service, normalised by the fastest type; O(r log r), r running",
          "foreground-background queueing, Kleinrock 1976; GPU form: Tiresias, Gu et al., NSDI 2019",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kLasParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double quantum = params.Number("quantum", 0.0, 1e12);
            return std::make_unique<Las>(quantum, ReadSlice(params));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
