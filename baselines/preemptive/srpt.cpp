// Shortest remaining processing time on unrelated machines, greedily: again and again the (job, type) pair
// that would finish soonest among those that still fit. Room only shrinks, so one pass over the sorted pairs
// does it.
#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/plan.hpp"

namespace berth {
namespace {

struct Pair {
  double seconds;  // to finish, what the change itself costs included
  bool moves;      // the job is not already running on this type
  int job;
  int type;
};

// Ties: stay where you are, then arrival order, then cluster order.
bool Sooner(const Pair& a, const Pair& b) {
  if (a.seconds != b.seconds) return a.seconds < b.seconds;
  if (a.moves != b.moves) return b.moves;
  return a.job != b.job ? a.job < b.job : a.type < b.type;
}

// Seconds of no progress that running on `type` next would cost (env: Costs).
double ChangeSeconds(const ClusterView& view, int job, int type) {
  const int last = view.LastTypeOf(job);
  if (last < 0 || view.TypeOf(job) == type) return 0.0;
  const Costs& costs = view.costs();
  return costs.checkpoint_s + costs.restore_s + (last != type ? costs.migration_s : 0.0);
}

class Srpt final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    pairs_.clear();
    for (int job : view.active()) {
      for (int type = 0; type < view.num_types(); ++type) {
        if (view.Rate(job, type) <= 0.0) continue;
        pairs_.push_back({view.RemainingSeconds(job, type) + ChangeSeconds(view, job, type),
                          view.TypeOf(job) != type, job, type});
      }
    }
    std::sort(pairs_.begin(), pairs_.end(), Sooner);
    plan_.Begin(view, /*preemptive=*/true);
    for (const Pair& pair : pairs_) {
      if (plan_.total_room() == 0) break;
      if (plan_.Fits(view, pair.job, pair.type)) plan_.Put(view, pair.job, pair.type);
    }
    plan_.Emit(view, decision);
  }

 private:
  Plan plan_;
  std::vector<Pair> pairs_;
};

}  // namespace

SchedulerInfo SrptInfo() {
  return {"srpt",
          "preemptive shortest remaining time over (job, type) pairs",
          "SRPT, Schrage 1968; greedy over unrelated machines",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<Srpt>(); },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
