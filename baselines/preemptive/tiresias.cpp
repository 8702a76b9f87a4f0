// Tiresias' discretised two-dimensional attained service (Gu et al., NSDI 2019, §4): jobs drop through K
// queues as their GPU-seconds pass K - 1 thresholds; higher queues go first. Within a queue first come, first
// served with running jobs ahead (policy=las), or by Gittins index (policy=gittins). The order of the queues,
// thresholds and promotion are those of the authors' simulator (SymbioticLab/Tiresias, run_sim.py,
// dlas_sim_jobs), but for ties between Gittins indices, which here go to the earlier job. Pollux' evaluation
// ran it as tiresias(thresholds=57600,order=entered,nodes=most_free) (petuum/adaptdl, branch osdi21-artifact,
// simulator/tiresias.py).
#include <algorithm>
#include <cmath>

#include "baselines/preemptive/service_distribution.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTiresiasParams[] = {
    {"policy", "las", "order within a queue: las (first come, first served) | gittins"},
    {"thresholds", "3250:7200", "GPU-seconds at which a job drops to the next queue, ascending"},
    {"promote", "0",
     "a job that waits this many times as long as it ran goes back to the first queue; 0 = never"},
    kServicesParam,
    kDeltaParam,
    {"slice", "360",
     "s, policy=gittins under clocks event and hpc: look again after this long while jobs wait"},
    {"order", "running_first",
     "within a queue, policy=las: running_first | entered (first in, first served)"},
    {"nodes", "any", "GPUs of a start: any (lowest numbers) | most_free (of the emptiest nodes)"},
};

class Tiresias final : public Scheduler {
 public:
  Tiresias(std::vector<double> thresholds, double promote, bool gittins, double slice,
           const LearnedServices& services, bool entered, bool most_free)
      : thresholds_(std::move(thresholds)),
        promote_(promote),
        gittins_(gittins),
        slice_(slice),
        services_(services),
        entered_(entered),
        most_free_(most_free) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }

  void Reset(const ClusterView& view) override {
    queues_.assign(thresholds_.size() + 1, {});
    jobs_.assign(U(view.num_jobs()), {});
    services_.Reset();
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    services_.Learn(view);
    for (auto& queue : queues_) std::erase_if(queue, [&](int job) { return view.IsDone(job); });
    for (int job : view.active()) {
      Job& its = jobs_[U(job)];
      const int interruptions = view.Interruptions(job);
      if (its.queue < 0) {
        Enter(job, 0);
      } else if (interruptions != its.interruptions) {
        its.stopped = view.now();
      }
      its.interruptions = interruptions;
    }
    for (int job : view.active()) {
      Demote(view, job);
      if (!view.IsRunning(job)) Promote(view, job);
    }
    if (gittins_) SortByIndex(view);
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    for (const auto& queue : queues_) {
      for (int job : queue) {
        const int type = FastestOrHere(view, plan_, job);
        if (type >= 0) PutOrStay(view, plan_, job, type);
      }
    }
    plan_.Emit(view, decision);
    LeavingMoves moves(view, plan_, decision);
    for (const auto& queue : queues_) {
      for (int job : queue) moves.Offer(job);
    }
    if (most_free_) nodes_.Name(view, decision);
    for (auto& queue : queues_) {  // those that do not run go behind those that do
      if (entered_) break;
      std::stable_partition(queue.begin(), queue.end(), [this](int job) { return plan_.Placed(job); });
    }
    for (int job : view.running()) {
      if (!plan_.Placed(job)) jobs_[U(job)].stopped = view.now();
    }
    if (plan_.placed().size() < view.active().size())
      decision.wake_at = std::min(decision.wake_at, NextChange(view));
  }

 private:
  struct Job {
    int queue = -1;
    double forgiven = 0.0;  // GPU-seconds that a promotion made it forget
    double stopped = 0.0;   // s, when it last stopped running, as far as decisions show
    int interruptions = 0;  // at the last decision
  };

  double Service(const ClusterView& view, int job) const {
    return AttainedGpuSeconds(view, job) - jobs_[U(job)].forgiven;
  }

  void Enter(int job, int queue) {
    if (jobs_[U(job)].queue >= 0) std::erase(queues_[U(jobs_[U(job)].queue)], job);
    jobs_[U(job)].queue = queue;
    queues_[U(queue)].push_back(job);
  }

  void Demote(const ClusterView& view, int job) {
    int queue = jobs_[U(job)].queue;
    const double service = Service(view, job);
    while (U(queue) < thresholds_.size() && service >= thresholds_[U(queue)] * (1.0 - kServiceRounding))
      ++queue;
    if (queue != jobs_[U(job)].queue) Enter(job, queue);
  }

  void Promote(const ClusterView& view, int job) {
    Job& its = jobs_[U(job)];
    const double service = Service(view, job);
    if (promote_ <= 0.0 || its.queue == 0 || service <= 0.0) return;
    const double wait = promote_ * (service / view.Gang(job));
    if (view.now() - its.stopped < wait * (1.0 - kServiceRounding)) return;
    its.forgiven += service;
    Enter(job, 0);
  }

  void SortByIndex(const ClusterView& view) {
    for (auto& queue : queues_) {
      ranking_.clear();
      for (int job : queue) ranking_.push_back({-services_.Index(AttainedGpuSeconds(view, job)), job});
      std::sort(ranking_.begin(), ranking_.end());
      for (std::size_t i = 0; i < queue.size(); ++i) queue[i] = ranking_[i].second;
    }
  }

  // When the first running job drops to the next queue, the first waiting one rises to the first, or the
  // indices are looked at again. Who is to start may do so late, or find no room on any node.
  double NextChange(const ClusterView& view) const {
    double next = gittins_ && slice_ > 0.0 ? view.now() + slice_ : kNever;
    for (int job : view.active()) {
      const Job& its = jobs_[U(job)];
      const double seconds = Service(view, job) / view.Gang(job);
      if (promote_ > 0.0 && its.queue > 0 && seconds > 0.0 && !(view.IsRunning(job) && plan_.Placed(job)))
        next = std::min(next, its.stopped + promote_ * seconds);
      if (plan_.Placed(job) && U(its.queue) < thresholds_.size())
        next = std::min(next, view.now() + thresholds_[U(its.queue)] / view.Gang(job) - seconds);
    }
    return std::max(next, std::nextafter(view.now(), kNever));
  }

  std::vector<double> thresholds_;
  double promote_;
  bool gittins_;
  double slice_;
  LearnedServices services_;
  bool entered_, most_free_;
  MostFreeNodes nodes_;
  std::vector<std::vector<int>> queues_;
  std::vector<Job> jobs_;  // [J]
  Plan plan_;
  Ranking ranking_;
};

std::unique_ptr<Scheduler> MakeTiresias(Params& params) {
  const bool gittins = params.Choice("policy", {"las", "gittins"}) == 1;
  const std::string what = "tiresias: parameter 'thresholds' (GPU-seconds, as in 3250:7200)";
  std::vector<double> thresholds = ParsePositiveList(params.Text("thresholds"), what);
  if (!std::is_sorted(thresholds.begin(), thresholds.end(), std::less_equal<>())) {
    throw Error(Join(what, ": expected them ascending, found ", params.Text("thresholds")));
  }
  for (const ParamInfo& param : kTiresiasParams) {
    const std::string name = param.name;
    if (gittins || (name != kServicesParam.name && name != kDeltaParam.name && name != "slice")) continue;
    if (params.Text(name) == param.default_value) continue;
    throw Error(Join("tiresias: parameter '", name, "': policy=las does not read it; expected ",
                     param.default_value, " or policy=gittins, found '", params.Text(name), "'"));
  }
  const double promote = params.Number("promote", 0.0, 1e12);
  const LearnedServices services(params);
  const double slice = params.Number("slice", 0.0, 1e12);
  const bool entered = params.Choice("order", {"running_first", "entered"}) == 1;
  if (entered && gittins) throw Error("tiresias: parameter 'order': policy=gittins orders queues itself");
  const bool most_free = params.Choice("nodes", {"any", "most_free"}) == 1;
  return std::make_unique<Tiresias>(std::move(thresholds), promote, gittins, slice, services, entered,
                                    most_free);
}

}  // namespace

SchedulerInfo TiresiasInfo() {
  return {"tiresias",
          "preemptive: discretised two-dimensional least attained service, or Gittins index; O(n log n)",
          "Gu et al., NSDI 2019, §4; queues as in the authors' simulator",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kTiresiasParams,
          MakeTiresias,
          /*claims=*/{.types = true}};
}

}  // namespace berth
