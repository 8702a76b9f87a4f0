// EASY backfilling (Lifka 1995) on several GPU types. First come, first served until the head of the queue
// does not fit; the head then reserves the type on which it can start earliest, and later jobs may start only
// if that does not delay it: on another type, before the reserved start, or on GPUs that the head will not
// need.
#include <algorithm>

#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

class Easy final : public Scheduler {
 public:
  explicit Easy(TypeChoice place) : place_(place) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view, /*preemptive=*/false);
    if (plan_.total_room() == 0) return;
    const auto queue = view.waiting();
    std::size_t next = 0;
    for (; next < queue.size(); ++next) {
      const int type = ChooseType(view, plan_, queue[next], place_);
      if (type < 0) break;
      plan_.Put(view, queue[next], type);
    }
    if (next < queue.size()) {
      const Reservation head = Reserve(view, queue[next]);
      Backfill(view, queue.subspan(next + 1), head);
    }
    plan_.Emit(view, decision);
  }

 private:
  struct Reservation {
    int type = -1;
    double start = kNever;  // s
    int spare = 0;          // GPUs of the type that the head leaves free at its start
  };

  // Where and when the head can start, given the running jobs and those just placed. Of types with the same
  // start the one on which it runs fastest.
  Reservation Reserve(const ClusterView& view, int head) {
    Reservation best;
    for (int type = 0; type < view.num_types(); ++type) {
      const int count = view.types()[static_cast<std::size_t>(type)].count;
      if (view.Rate(head, type) <= 0.0 || view.Gang(head) > count) continue;
      releases_.clear();
      for (int job : view.running()) {
        if (view.TypeOf(job) == type) releases_.push_back({EstimatedRelease(view, job), view.Gang(job)});
      }
      for (int job : plan_.placed()) {
        if (plan_.TypeOf(job) != type) continue;
        releases_.push_back({EstimatedRelease(view, job, type, view.now()), view.Gang(job)});
      }
      std::sort(releases_.begin(), releases_.end());
      int free = plan_.room(type);
      for (std::size_t r = 0; r < releases_.size() && free < view.Gang(head); ++r) {
        free += releases_[r].second;
        // All that is freed at the same time is there at that time.
        while (r + 1 < releases_.size() && releases_[r + 1].first == releases_[r].first)
          free += releases_[++r].second;
        if (free < view.Gang(head)) continue;
        const double start = releases_[r].first;
        const bool faster = best.type >= 0 && view.Rate(head, type) > view.Rate(head, best.type);
        if (start < best.start || (start == best.start && faster))
          best = {type, start, free - view.Gang(head)};
      }
    }
    return best;
  }

  void Backfill(const ClusterView& view, std::span<const int> queue, Reservation head) {
    for (int job : queue) {
      if (plan_.total_room() == 0) return;
      int best = -1;
      bool best_spare = false;
      for (int type = 0; type < view.num_types(); ++type) {
        if (!plan_.Fits(view, job, type)) continue;
        bool uses_spare = false;
        if (type == head.type && EstimatedRelease(view, job, type, view.now()) > head.start) {
          if (view.Gang(job) > head.spare) continue;
          uses_spare = true;
        }
        if (best < 0 || Better(view, job, type, best)) best = type, best_spare = uses_spare;
      }
      if (best < 0) continue;
      if (best_spare) head.spare -= view.Gang(job);
      plan_.Put(view, job, best);
    }
  }

  bool Better(const ClusterView& view, int job, int type, int than) const {
    switch (place_) {
      case TypeChoice::kFastest:
        return view.Rate(job, type) > view.Rate(job, than);
      case TypeChoice::kRoomiest:
        return plan_.room(type) > plan_.room(than);
      case TypeChoice::kFirst:
        return false;
    }
    return false;
  }

  TypeChoice place_;
  Plan plan_;
  std::vector<std::pair<double, int>> releases_;  // (time, GPUs)
};

}  // namespace

SchedulerInfo EasyInfo() {
  return {"easy",
          "first come, first served with EASY backfilling; the head of the queue holds a reservation",
          "Lifka, JSSPP 1995",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Easy>(ReadTypeChoice(params));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
