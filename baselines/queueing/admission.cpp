// Admission control: an arrival is rejected for good where the system is full: when as many jobs as the limit
// are in it (by=jobs), or when the wait that an arrival would be predicted is above the limit in seconds
// (by=wait): GPU-seconds left of all jobs, each on its fastest type, over GPUs. On one GPU the latter is the
// virtual waiting time. Those admitted are the inner scheduler's.
#include <algorithm>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAdmissionParams[] = {
    {"by", "jobs", "what is limited: jobs (in the system) | wait (predicted, s)"},
    {"limit", "inf",
     "by=jobs: the most that may be in the system, from 0; by=wait: the most that an arrival may find, in s; "
     "inf = everybody is admitted"},
    {"inner", "fcfs", "the scheduler of those admitted"},
};

class Admission final : public Scheduler {
 public:
  Admission(bool by_wait, double limit, Inner inner)
      : by_wait_(by_wait), limit_(limit), inner_(std::move(inner)) {}
  Knowledge knowledge() const override {
    return by_wait_ ? std::max(inner_.knowledge(), Knowledge::kEstimate) : inner_.knowledge();
  }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    admitted_.assign(U(view.num_jobs()), 0);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    inner_.Begin(view);
    double gpus = 0.0;
    for (const GpuType& type : view.types()) gpus += type.count;
    double found = 0.0;  // jobs, or seconds
    for (int job : view.active()) {
      if (view.LastTypeOf(job) >= 0) admitted_[U(job)] = 1;  // it has run: admitted before Reset
      if (admitted_[U(job)] != 0) found += Adds(view, job, gpus);
    }
    for (int job : view.active()) {
      if (admitted_[U(job)] == 0) {
        if (by_wait_ ? found > limit_ : found >= limit_) {
          decision.Reject(job);
          continue;
        }
        admitted_[U(job)] = 1;
        found += Adds(view, job, gpus);
      }
      inner_.Show(view, job);
    }
    inner_.Decide(view, decision);
  }

 private:
  // What a job adds to what an arrival finds.
  double Adds(const ClusterView& view, int job, double gpus) const {
    return by_wait_ ? view.RemainingSteps(job) / view.BestRate(job) * view.Gang(job) / gpus : 1.0;
  }

  bool by_wait_;
  double limit_;
  Inner inner_;
  std::vector<char> admitted_;  // [J]
};

}  // namespace

SchedulerInfo AdmissionInfo() {
  return {"admission",
          "rejects arrivals above a number of jobs or a predicted wait, over any scheduler; O(n) + inner's",
          "threshold admission, Naor 1969; by virtual waiting time: Gavish & Schweitzer 1977",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kAdmissionParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const bool by_wait = params.Choice("by", {"jobs", "wait"}) == 1;
            const double limit = params.Number("limit", 0.0, kNever);
            return std::make_unique<Admission>(by_wait, limit,
                                               Inner("admission: parameter 'inner'", params.Text("inner")));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
