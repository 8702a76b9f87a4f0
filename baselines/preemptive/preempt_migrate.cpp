// Preempts and migrates where it pays after costs, and leaves running jobs alone where it does not.
//
//   leave    GPUs that are about to go, for idle ones, where it would not end in time;
//   start    waiting jobs, the shortest remaining time first, on the fastest type with room;
//   migrate  a running job to a faster type with room, when what is left there and the cost of moving take
//            less than what is left here;
//   preempt  for a waiting job w those on a type with most left, but nobody whom another one's GPUs make
//            needless: w gains the wait until enough GPUs would free by themselves, each of them loses w's
//            run and its own stop and restart.
//
// For one GPU the last is the exchange argument of SRPT with costs: stop v for w when r_v > p_w + cost, which
// is what makes the sum of their completion times smaller.
#include <algorithm>

#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPreemptMigrateParams[] = {
    {"margin", "1", "how many times its costs a stop or a move must gain, from 1"},
};

constexpr double kFree = 1e300;  // more than any gain of a stop

class PreemptMigrate final : public Scheduler {
 public:
  explicit PreemptMigrate(double margin) : margin_(margin) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    target_.resize(U(view.num_jobs()));
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    for (int job : view.active()) target_[U(job)] = view.TypeOf(job);
    Start(view);
    Migrate(view);
    Preempt(view);
    plan_.Begin(view, /*preemptive=*/true);
    for (int job : view.active()) {
      if (target_[U(job)] >= 0) PutOrStay(view, plan_, job, target_[U(job)]);
    }
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, view.running(), decision);
  }

 private:
  static double Left(const ClusterView& view, int job, int type) {
    return view.RemainingSeconds(job, type) + ChangeSeconds(view, job, type);
  }
  static double Shortest(const ClusterView& view, int job) {
    return view.RemainingSteps(job) / view.BestRate(job);
  }

  void Start(const ClusterView& view) {
    waiting_.clear();
    for (int job : view.waiting()) waiting_.push_back({Shortest(view, job), job});
    std::sort(waiting_.begin(), waiting_.end());
    std::erase_if(waiting_, [&](const std::pair<double, int>& entry) {
      const int job = entry.second;
      int best = -1;
      for (int type = 0; type < view.num_types(); ++type) {
        if (view.Rate(job, type) <= 0.0 || view.Gang(job) > room_[U(type)]) continue;
        if (best < 0 || view.Rate(job, type) > view.Rate(job, best)) best = type;
      }
      if (best < 0) return false;
      target_[U(job)] = best;
      room_[U(best)] -= view.Gang(job);
      return true;
    });
  }

  // The largest gain first would need all pairs anew after every move; arrival order is as good on average.
  void Migrate(const ClusterView& view) {
    for (int job : view.running()) {
      const int here = target_[U(job)];
      int best = -1;
      double least = view.RemainingSeconds(job, here);
      for (int type = 0; type < view.num_types(); ++type) {
        if (type == here || view.Rate(job, type) <= 0.0 || view.Gang(job) > room_[U(type)]) continue;
        const double there = view.RemainingSeconds(job, type) + margin_ * ChangeSeconds(view, job, type);
        if (there < least) least = there, best = type;
      }
      if (best < 0) continue;
      room_[U(here)] += FreedBy(view, job);
      room_[U(best)] -= view.Gang(job);
      target_[U(job)] = best;
    }
  }

  void Preempt(const ClusterView& view) {
    for (const auto& [shortest, job] : waiting_) {
      int best = -1;
      double best_gain = 0.0;
      for (int type = 0; type < view.num_types(); ++type) {
        const double gain = Gain(view, job, type, victims_);
        if (gain > best_gain) best_gain = gain, best = type, chosen_.swap(victims_);
      }
      if (best < 0) continue;
      for (int victim : chosen_) {
        target_[U(victim)] = -1;
        room_[U(best)] += FreedBy(view, victim);
      }
      target_[U(job)] = best;
      room_[U(best)] -= view.Gang(job);
    }
  }

  // Seconds of completion time that stopping `victims` for `job` would save; 0 or less = leave them alone.
  double Gain(const ClusterView& view, int job, int type, std::vector<int>& victims) {
    victims.clear();
    const int count = view.types()[U(type)].count;
    if (view.Rate(job, type) <= 0.0 || view.Gang(job) > count) return 0.0;
    const double run = Left(view, job, type);
    if (room_[U(type)] >= view.Gang(job)) return kFree / (1.0 + run);  // a move or a stop made room
    here_.clear();
    for (int other : view.running()) {
      if (target_[U(other)] == type && view.TypeOf(other) == type)
        here_.push_back({view.RemainingSeconds(other, type), other});
    }
    std::sort(here_.begin(), here_.end());
    double wait = kNever;  // until enough GPUs free by themselves
    int room = room_[U(type)];
    for (const auto& [left, other] : here_) {
      room += FreedBy(view, other);
      if (room < view.Gang(job)) continue;
      wait = left;
      break;
    }
    if (wait == kNever) return 0.0;  // jobs that start now are in the way: they are shorter
    room = room_[U(type)];
    for (auto entry = here_.rbegin(); entry != here_.rend() && room < view.Gang(job); ++entry) {
      const int freed = FreedBy(view, entry->second);
      if (freed > 0) room += freed, victims.push_back(entry->second);
    }
    std::erase_if(victims, [&](int victim) {  // whom a wider one that came after makes needless
      const int freed = FreedBy(view, victim);
      if (room - freed < view.Gang(job)) return false;
      room -= freed;
      return true;
    });
    double gain = wait;
    for (int victim : victims) gain -= run + margin_ * StartSeconds(view, victim, type, type);
    return gain;
  }

  double margin_;
  std::vector<int> target_;                      // [J] type after this decision, -1 = waits
  std::vector<int> room_;                        // [G]
  std::vector<std::pair<double, int>> waiting_;  // (s, job)
  std::vector<std::pair<double, int>> here_;     // (s left, job)
  std::vector<int> victims_, chosen_;
  Plan plan_;
};

}  // namespace

SchedulerInfo PreemptMigrateInfo() {
  return {"preempt_migrate",
          "stops or moves a running job only where the time saved exceeds what it costs; O(n log n + n "
          "types), and O(r (types + log r)) for each that waits on, r running",
          "exchange argument of Schrage 1968 with checkpoint, restore and migration costs",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kPreemptMigrateParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<PreemptMigrate>(params.Number("margin", 1.0, 1e6));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
