// A queue for each job type, served by GPU types at their own rates: an idle GPU type takes from the queue of
// the greatest weight x length x rate of service (MaxWeight), the head of that queue first. It keeps the
// queues stable wherever any rule can. Weight is the head's, the rate 1 / mean seconds of the job type there.
// The chosen head blocks the GPU type until it fits, so gangs get their turn.
#include <algorithm>

#include "baselines/queueing/class_means.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kMeansParam};

class MaxWeight final : public Scheduler {
 public:
  explicit MaxWeight(const ClassMeans& means) : means_(means) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override { means_.Reset(view); }

  void Decide(const ClusterView& view, Decision& decision) override {
    means_.Learn(view);
    plan_.Begin(view, /*preemptive=*/false);
    if (view.waiting().empty() || plan_.total_room() == 0) return;
    queue_.resize(view.throughputs().job_types.size());
    for (auto& queue : queue_) queue.clear();
    for (auto job = view.waiting().rbegin(); job != view.waiting().rend(); ++job) {
      queue_[U(view.JobType(*job))].push_back(*job);
    }
    open_.assign(U(view.num_types()), 1);
    for (;;) {
      int best_class = -1, best_type = -1;
      double greatest = 0.0;
      for (int type = 0; type < view.num_types(); ++type) {
        if (open_[U(type)] == 0 || plan_.room(type) == 0) continue;
        for (std::size_t c = 0; c < queue_.size(); ++c) {
          if (queue_[c].empty()) continue;
          const int head = queue_[c].back();
          const double pressure = view.Weight(head) * static_cast<double>(queue_[c].size()) *
                                  view.Rate(head, type) / means_.Mean(static_cast<int>(c));
          if (pressure > greatest) greatest = pressure, best_class = static_cast<int>(c), best_type = type;
        }
      }
      if (best_class < 0) break;
      const int head = queue_[U(best_class)].back();
      if (!plan_.Fits(view, head, best_type)) {
        open_[U(best_type)] = 0;
        continue;
      }
      plan_.Put(view, head, best_type);
      queue_[U(best_class)].pop_back();
    }
    plan_.Emit(view, decision);
  }

 private:
  ClassMeans means_;
  Plan plan_;
  std::vector<std::vector<int>> queue_;  // [job types], the head last
  std::vector<char> open_;               // [G] takes jobs
};

}  // namespace

SchedulerInfo MaxWeightInfo() {
  return {"max_weight",
          "a queue per job type; GPU types take from the greatest weight x length x rate; O(starts types "
          "classes)",
          "MaxWeight: Tassiulas & Ephremides 1992; multi-class queues: Stolyar 2004",
          "",
          Knowledge::kBlind,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<MaxWeight>(ClassMeans(params, "max_weight"));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
