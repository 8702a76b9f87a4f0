// Small jobs batched two on a GPU: a queue rule that, where nobody has room any more, lets the first in order
// join a small job that has a GPU to itself, if the two together do more than one after the other would:
//   rate of a beside b / rate of a alone + rate of b beside a / rate of b alone > gain,
// the normalised throughput of Gavel (Narayanan et al., OSDI 2020, §3.1). Of several it joins the one with
// which the sum is greatest, where Gandiva (Xiao et al., OSDI 2018, §3.2-3.3) draws one at random and drops
// it if it does not pay. Running jobs stay where they are; a pair lasts until one of them ends.
//
// Strict: who can neither start nor join blocks those behind it. Otherwise GPUs with ever new small jobs on
// them would never be idle together, and a gang would wait for ever.
#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/queue/order.hpp"
#include "baselines/queue/type_choice.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTaskBatchingParams[] = {
    {"small_s", "inf",
     "s on its fastest type that a job of one GPU takes at most to be small; inf = all are, whatever they "
     "take"},
    {"gain", "1", "the normalised throughput that two on a GPU have to exceed; 2 = as if alone"},
    {"order", "fcfs", "who comes first: an order of queue"},
};

class TaskBatching final : public Scheduler {
 public:
  TaskBatching(double small_s, double gain, ScoreRule rule)
      : small_s_(small_s), gain_(gain), rule_(std::move(rule)) {}
  Knowledge knowledge() const override {
    return small_s_ < kNever ? std::max(rule_.knowledge, Knowledge::kEstimate) : rule_.knowledge;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.waiting()) order_.push_back({rule_.score(view, job), job});
    std::sort(order_.begin(), order_.end());
    plan_.Begin(view, /*preemptive=*/false);
    ListHosts(view);
    pairs_.clear();
    for (const auto& [score, job] : order_) {
      const int type = ChooseType(view, plan_, job, TypeChoice::kFastest);
      if (type >= 0) {
        plan_.Put(view, job, type);
        if (IsSmall(view, job)) hosts_.push_back({job, type});
      } else if (!Join(view, job)) {
        break;
      }
    }
    plan_.Emit(view, decision);
    for (const auto& [job, host] : pairs_) decision.Pack(job, host);
  }

 private:
  struct Host {
    int job, type;
  };

  // Small jobs that run on a GPU of their own which takes new jobs.
  void ListHosts(const ClusterView& view) {
    hosts_.clear();
    if (!view.has_pairs() || order_.empty()) return;
    for (int job : view.running()) {
      const bool alone = view.Partner(job) < 0 && IsSmall(view, job);
      if (alone && (view.plain() || view.InService(view.Devices(job).front())))
        hosts_.push_back({job, view.TypeOf(job)});
    }
  }

  bool IsSmall(const ClusterView& view, int job) const {
    if (view.Gang(job) != 1) return false;
    if (small_s_ == kNever) return true;
    const double requested = view.Requested(job);
    return (std::isnan(requested) ? view.TotalSteps(job) / view.BestRate(job) : requested) <= small_s_;
  }

  // Puts the job beside the host with which it does most; false = with none it does enough.
  bool Join(const ClusterView& view, int job) {
    if (hosts_.empty() || !IsSmall(view, job)) return false;
    auto best = hosts_.end();
    double most = gain_;
    for (auto host = hosts_.begin(); host != hosts_.end(); ++host) {
      const double mine = view.PairRate(job, host->job, host->type);
      const double its = view.PairRate(host->job, job, host->type);
      if (mine <= 0.0 || its <= 0.0) continue;
      const double together = mine / view.Rate(job, host->type) + its / view.Rate(host->job, host->type);
      if (together > most) most = together, best = host;
    }
    if (best == hosts_.end()) return false;
    pairs_.push_back({job, best->job});
    hosts_.erase(best);
    return true;
  }

  double small_s_, gain_;
  ScoreRule rule_;
  Plan plan_;
  Ranking order_;
  std::vector<Host> hosts_;
  std::vector<std::pair<int, int>> pairs_;  // (job, host)
};

}  // namespace

SchedulerInfo TaskBatchingInfo() {
  return {"task_batching",
          "a queue that puts small jobs two on a GPU where that gains; O(n log n) + O(GPUs) a job that joins",
          "Gandiva's packing, Xiao et al., OSDI 2018, by the pair throughputs of Narayanan et al., OSDI 2020",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kTaskBatchingParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double small_s = params.Number("small_s", 0.0, kNever);
            const double gain = params.Number("gain", 0.0, 2.0);
            return std::make_unique<TaskBatching>(
                small_s, gain, FindOrder("task_batching: parameter 'order'", params.Text("order")));
          }};
}

}  // namespace berth
