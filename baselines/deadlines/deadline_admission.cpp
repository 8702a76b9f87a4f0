// Earliest deadline first for those who can still make it: an arrival is rejected when, by a forecast of the
// schedule without further arrivals, it would miss its deadline or make an admitted job miss one that it
// would have met. Under clock event, with true remaining work, every admitted job meets its deadline: the
// forecast is the schedule that is carried out, and later arrivals are admitted only if they spoil nothing.
// On one GPU without costs the forecast is exact, so nobody is rejected in vain (Dertouzos 1974).
#include <algorithm>

#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

class DeadlineAdmission final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView& view) override {
    seen_.assign(U(view.num_jobs()), 0);
    paid_at_.assign(seen_.size(), 0.0);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    admitted_.clear();
    for (int job : view.active()) {
      if (view.LastTypeOf(job) >= 0) seen_[U(job)] = 1;  // it has run: admitted before Reset
      if (seen_[U(job)] != 0) admitted_.push_back({view.Deadline(job), job});
    }
    std::sort(admitted_.begin(), admitted_.end());
    Forecast(view, met_);
    for (int job : view.active()) {
      if (seen_[U(job)] != 0) continue;
      seen_[U(job)] = 1;
      const std::pair<double, int> entry = {view.Deadline(job), job};
      const auto at = admitted_.insert(std::upper_bound(admitted_.begin(), admitted_.end(), entry), entry);
      met_.insert(met_.begin() + (at - admitted_.begin()), 1);
      Forecast(view, would_);
      if (std::equal(met_.begin(), met_.end(), would_.begin(), std::less_equal<>())) {
        met_ = would_;
        continue;
      }
      met_.erase(met_.begin() + (at - admitted_.begin()));
      admitted_.erase(at);
      decision.Reject(job);
    }
    plan_.Begin(view, /*preemptive=*/true);
    FillByRank(view, admitted_, plan_);
    for (int job : plan_.placed()) {
      const int type = plan_.TypeOf(job);
      if (type != view.TypeOf(job)) paid_at_[U(job)] = view.now() + ChangeSeconds(view, job, type);
    }
    plan_.Emit(view, decision);
    LeavingMoves moves(view, plan_, decision);
    for (const auto& [deadline, job] : admitted_) {
      if (moves.Offer(job)) paid_at_[U(job)] = view.now() + MoveSeconds(view, job);
    }
  }

 private:
  struct Runner {
    double steps;         // left
    double stalled;       // s before it progresses
    int type, last;       // now, -1 = waits; where it ran last
    int takes;            // GPUs in service of the type, where it is
    bool stays, in_time;  // on GPUs of which some are about to go; and ends before
  };

  // Runs `admitted_` to its end as Decide would; met[i] = its i-th job ends by its deadline.
  void Forecast(const ClusterView& view, std::vector<char>& met) {
    met.assign(admitted_.size(), 1);
    runners_.clear();
    for (const auto& [deadline, job] : admitted_) {
      const double stalled = view.IsRunning(job) ? std::max(0.0, paid_at_[U(job)] - view.now()) : 0.0;
      const int type = view.TypeOf(job);
      const int takes = NoneInService(view, job) ? 0 : TakesOf(view, job, type);
      const bool stays = view.Partner(job) < 0 && !AllInService(view, job);
      runners_.push_back({view.RemainingSteps(job), stalled, type, view.LastTypeOf(job), takes, stays,
                          stays && EndsBeforeLeaving(view, job)});
    }
    double now = view.now();
    for (std::size_t left = admitted_.size(); left > 0;) {
      Place(view);
      double step = kNever;
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        const Runner& its = runners_[i];
        if (its.type >= 0) step = std::min(step, its.stalled + its.steps / Rate(view, i));
      }
      if (step == kNever)
        return;  // inside another scheduler, on a part of the cluster too small for the rest
      now += step;
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        Runner& its = runners_[i];
        if (its.type < 0) continue;
        const bool ends = its.stalled + its.steps / Rate(view, i) <= step;
        its.steps -= std::max(step - its.stalled, 0.0) * Rate(view, i);
        its.stalled = std::max(its.stalled - step, 0.0);
        if (!ends) continue;
        its.steps = -1.0;  // done
        its.type = -1;
        --left;
        if (Misses(now, admitted_[i].first)) met[i] = 0;
      }
    }
  }

  double Rate(const ClusterView& view, std::size_t i) const {
    return view.Rate(admitted_[i].second, runners_[i].type);
  }

  // FillByRank on the forecast's state.
  void Place(const ClusterView& view) {
    room_.clear();
    for (const GpuType& type : view.types()) room_.push_back(type.count);
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& its = runners_[i];
      if (its.steps < 0.0 || its.takes == 0) continue;  // 0: on GPUs that nobody else can have
      const int job = admitted_[i].second;
      int best = -1;
      for (int type = 0; type < view.num_types(); ++type) {
        const int takes = type == its.type ? its.takes : view.Gang(job);
        if (view.Rate(job, type) <= 0.0 || takes > room_[U(type)]) continue;
        const bool faster = best < 0 || view.Rate(job, type) > view.Rate(job, best);
        if (faster || (type == its.type && view.Rate(job, type) >= view.Rate(job, best))) best = type;
      }
      if (best >= 0 && best != its.type) its.stalled = StartSeconds(view, job, its.last, best);
      if (best != its.type) its.takes = view.Gang(job), its.stays = false;
      its.type = best;
      if (best < 0) continue;
      its.last = best;
      room_[U(best)] -= its.takes;
    }
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      if (runners_[i].stays && runners_[i].steps >= 0.0) MoveOff(view, admitted_[i].second, runners_[i]);
    }
  }

  // As LeavingMoves.
  void MoveOff(const ClusterView& view, int job, Runner& its) {
    const double left = its.stalled + its.steps / view.Rate(job, its.type);
    int best = -1;
    for (int type = 0; type < view.num_types(); ++type) {
      const int held = type == its.type ? its.takes : 0;
      const double rate = view.Rate(job, type);
      if (rate <= 0.0 || view.Gang(job) > room_[U(type)] + held) continue;
      if (its.in_time && MoveSeconds(view, job) + its.steps / rate >= left) continue;
      const double gain = best < 0 ? 1.0 : rate - view.Rate(job, best);
      if (gain > 0.0 || (gain == 0.0 && type == its.type)) best = type;
    }
    if (best < 0) return;
    room_[U(its.type)] += its.takes;
    room_[U(best)] -= view.Gang(job);
    its = {its.steps, MoveSeconds(view, job), best, best, view.Gang(job), false, false};
  }

  std::vector<char> seen_;       // [J] admitted or rejected
  std::vector<double> paid_at_;  // [J] s, when what the last start or move cost is paid
  Ranking admitted_;             // by deadline
  std::vector<char> met_, would_;
  std::vector<Runner> runners_;
  std::vector<int> room_;
  Plan plan_;
};

}  // namespace

SchedulerInfo DeadlineAdmissionInfo() {
  return {"deadline_admission",
          "edf that rejects an arrival which would miss its deadline or make another miss; O(n^2 types)",
          "Dertouzos 1974 (EDF is optimal on one machine); acceptance test by simulation",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<DeadlineAdmission>(); },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
