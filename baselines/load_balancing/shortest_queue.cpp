// Join the shortest queue, per type: each GPU type has one queue, served first come, first served; an arrival
// joins the one with the fewest jobs (a gang counts once a member) per GPU, the faster on ties, and stays
// there. Blind to speed and size otherwise.
#include <algorithm>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

class ShortestQueue final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView& view) override {
    type_.assign(U(view.num_jobs()), -1);
    length_.assign(U(view.num_types()), 0.0);
    jobs_.clear();
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    std::erase_if(jobs_, [&](int job) {
      if (view.IsDone(job)) length_[U(type_[U(job)])] -= view.Gang(job);
      return view.IsDone(job);
    });
    for (int job : view.running()) {  // unknown after a Reset
      if (type_[U(job)] < 0) Join(view, job, view.TypeOf(job));
    }
    for (int job : view.waiting()) {
      if (type_[U(job)] >= 0) continue;
      const int type = Choose(view, job);
      if (type >= 0) Join(view, job, type);  // else no type has as many GPUs in service: it joins later
    }
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    for (int job : view.waiting()) {
      if (type_[U(job)] < 0) continue;
      int& room = room_[U(type_[U(job)])];
      if (view.Gang(job) > room) {
        room = 0;  // it blocks those behind it
        continue;
      }
      room -= view.Gang(job);
      decision.Start(job, type_[U(job)]);
    }
  }

 private:
  void Join(const ClusterView& view, int job, int type) {
    type_[U(job)] = type;
    length_[U(type)] += view.Gang(job);
    jobs_.push_back(job);
  }

  int Choose(const ClusterView& view, int job) const {
    int best = -1;
    double shortest = kNever;
    for (int type = 0; type < view.num_types(); ++type) {
      if (!CanRun(view, job, type)) continue;
      const double length = length_[U(type)] / view.types()[U(type)].count;
      if (length > shortest) continue;
      if (length == shortest && view.Rate(job, type) <= view.Rate(job, best)) continue;
      shortest = length, best = type;
    }
    return best;
  }

  std::vector<int> type_;       // [J] -1 = not seen
  std::vector<double> length_;  // [G] GPUs that its jobs need
  std::vector<int> jobs_, room_;
};

}  // namespace

SchedulerInfo ShortestQueueInfo() {
  return {"shortest_queue",
          "join the shortest queue: one per GPU type, joined on arrival for good; O(types) an arrival",
          "Winston 1977; Foschini & Salz 1978",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<ShortestQueue>(); },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
