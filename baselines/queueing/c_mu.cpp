// The c-mu rule: among classes (job types) the one of the greatest cost of waiting times rate of service goes
// first, here weight / (mean GPU-seconds of the class on its fastest type), then arrival order. It minimises
// the mean weighted wait in M/G/1 among non-preemptive rules that do not know sizes (Cox & Smith 1961).
#include "baselines/queueing/class_means.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    kMeansParam,
    kOvertakeParam,
};

class CMu final : public Scheduler {
 public:
  CMu(const ClassMeans& means, bool overtake) : means_(means), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override { means_.Reset(view); }

  void Decide(const ClusterView& view, Decision& decision) override {
    means_.Learn(view);
    plan_.Begin(view, /*preemptive=*/false);
    if (view.waiting().empty() || plan_.total_room() == 0) return;
    order_.clear();
    for (int job : view.waiting()) {
      const double seconds = means_.Mean(view.JobType(job)) / view.BestRate(job);
      order_.push_back({-view.Weight(job) / (seconds * view.Gang(job)), job});
    }
    StartByRank(view, order_, overtake_, plan_);
    plan_.Emit(view, decision);
  }

 private:
  ClassMeans means_;
  bool overtake_;
  Plan plan_;
  Ranking order_;
};

}  // namespace

SchedulerInfo CMuInfo() {
  return {"c_mu",
          "greatest weight over mean GPU-seconds of the job type first, then arrival; O(n log n)",
          "c-mu rule: Smith 1956; Cox & Smith, Queues, 1961, §3.6",
          "",
          Knowledge::kBlind,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const ClassMeans means(params, "c_mu");
            return std::make_unique<CMu>(means, params.Bool("overtake"));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
