// Optimus as Pollux' evaluation ran it ("Optimus+Oracle+TunedJobs", Qiao et al., OSDI 2021, sec. 5.3;
// petuum/adaptdl, branch osdi21-artifact, simulator/optimus.py): batch sizes are those that were submitted,
// the number of GPUs is chosen, the time of a step and the steps left are known. One GPU after another goes
// to the job whose rest it shortens most (Peng et al., EuroSys 2018, sec. 4.1), every round. Jobs whose
// number stays keep their GPUs.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "baselines/elastic/width_plan.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth {
namespace {

class OptimusTuned final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kOracle; }
  bool resizes() const override { return true; }
  void Reset(const ClusterView&) override { seconds_.clear(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    goodput_ = view.Find<GoodputState>();
    plan_.Begin(view);
    jobs_.clear();
    for (int job : view.active()) {
      plan_.Place(view, job);
      jobs_.push_back({job, plan_.TypeOf(job) < 0 ? 0.0 : Gain(view, job)});
    }
    for (;;) {  // the first of equals
      const auto best = std::max_element(
          jobs_.begin(), jobs_.end(), [](const Candidate& a, const Candidate& b) { return a.gain < b.gain; });
      if (best == jobs_.end() || best->gain <= 0.0) break;
      const int wider = plan_.Next(view, best->job);
      if (plan_.MayWiden(view, best->job, wider)) plan_.Widen(view, best->job, wider);
      best->gain = Gain(view, best->job);
    }
    plan_.MoveOffLeaving(view, decision);
    Emit(view, decision);
  }

 private:
  struct Candidate {
    int job;
    double gain;  // s less to go on the next width, for each GPU more that it takes
  };

  double Gain(const ClusterView& view, int job) {
    const int type = plan_.TypeOf(job), gpus = plan_.WidthOf(job);
    const int wider = plan_.Next(view, job), costs = plan_.Costs(view, job, wider);
    if (costs > plan_.room(type) || wider > Most(view, job, type)) return 0.0;
    return (StepSeconds(view, job, type, gpus) - StepSeconds(view, job, type, wider)) * StepsLeft(view, job) /
           std::max(costs, 1);
  }

  const SpeedOnType& Speed(const ClusterView& view, int job, int type) const {
    return *goodput_->ApplicationOf(job).On(view.cluster().types[U(type)].name);
  }

  int Most(const ClusterView& view, int job, int type) const {
    if (goodput_ == nullptr) return view.MaxGang(job);
    const Application& application = goodput_->ApplicationOf(job);
    if (application.most_gpus > 0) return application.most_gpus;
    return view.BatchSize(job) / Speed(view, job, type).min_local;
  }

  // Of the batch that was submitted, on full nodes and a rest.
  double StepSeconds(const ClusterView& view, int job, int type, int gpus) {
    if (goodput_ == nullptr) return 1.0 / std::max(view.RateAt(job, type, gpus), 1e-300);
    const Application& application = goodput_->ApplicationOf(job);
    const auto [entry, fresh] =
        seconds_.try_emplace({view.JobType(job), type, view.BatchSize(job), gpus}, 0.0);
    if (!fresh) return entry->second;
    const SpeedOnType& speed = Speed(view, job, type);
    const goodput::BatchSplit split =
        goodput::SplitTuned(application.Limits(speed), gpus, view.BatchSize(job));
    const std::vector<int> nodes = FullNodes(gpus, view.cluster().types[U(type)].gpus_per_node);
    return entry->second = goodput::TotalTime(speed.At(nodes, split.atomic), split.accumulation);
  }

  double StepsLeft(const ClusterView& view, int job) const {
    if (goodput_ == nullptr) return view.RemainingSteps(job);
    const Application& application = goodput_->ApplicationOf(job);
    const int epoch = goodput_->jobs[U(job)].epoch, last = application.epochs() - 1;
    if (last <= epoch) return 1.0;
    const double batch = view.BatchSize(job);
    return application.curve.Iterations(batch, last) - application.curve.Iterations(batch, epoch);
  }

  void Emit(const ClusterView& view, Decision& decision) {
    std::vector<int> moved;
    for (const Candidate& of : jobs_) {
      const int job = of.job, gpus = plan_.WidthOf(job);
      if (view.IsRunning(job) && gpus == 0) decision.Stop(job);
      if (gpus > 0 && !plan_.RunsOn(view, job)) moved.push_back(job);
    }
    std::stable_sort(moved.begin(), moved.end(),
                     [this](int a, int b) { return plan_.WidthOf(a) < plan_.WidthOf(b); });
    for (int job : moved) {
      const int type = plan_.TypeOf(job), gpus = plan_.WidthOf(job);
      view.IsRunning(job) ? decision.Resize(job, type, gpus) : decision.StartAt(job, type, gpus);
    }
    nodes_.Name(view, decision);
  }

  const GoodputState* goodput_ = nullptr;  // null = off
  WidthPlan plan_;
  MostFreeNodes nodes_;
  std::vector<Candidate> jobs_;
  std::map<std::tuple<int, int, int, int>, double>
      seconds_;  // of a step, by application, type, batch and GPUs
};

}  // namespace

SchedulerInfo OptimusTunedInfo() {
  return {"optimus_tuned",
          "elastic, batches as submitted: GPUs one by one to the job whose rest they shorten most; O(GPUs n)",
          "Qiao et al., Pollux, OSDI 2021, sec. 5.3, of Peng et al., EuroSys 2018",
          "",
          Knowledge::kOracle,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<OptimusTuned>(); }};
}

}  // namespace berth
