// Rules over classes of jobs, a class for each job type, that know mean sizes: given, or learned from the
// jobs that completed.
#include <algorithm>
#include <string>
#include <vector>

#include "baselines/preemptive/service_distribution.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kMeansParam = {
    "means", "learned",
    "mean steps of each job type, in their order, as in 100:2000; learned = of completed jobs"};

// A job type of which none has completed is thought to have the mean of all that have; 1 step before that.
class ClassMeans {
 public:
  // `component` is named in errors.
  ClassMeans(Params& params, const std::string& component);
  void Reset(const ClusterView& view);  // throws Error where `means` does not name every job type
  void Learn(const ClusterView& view);  // at every decision point; needs kBlind
  double Mean(int job_type) const;      // steps

 private:
  std::string component_;
  std::vector<double> given_;  // empty = learned
  std::vector<double> sum_, count_;
  double all_sum_ = 0.0, all_count_ = 0.0;
};

ClassMeans::ClassMeans(Params& params, const std::string& component) : component_(component) {
  const std::string means = params.Text(kMeansParam.name);
  if (means != "learned")
    given_ = ParsePositiveList(means, component_ + ": parameter 'means' (learned, or steps)");
}

void ClassMeans::Reset(const ClusterView& view) {
  const std::size_t types = view.throughputs().job_types.size();
  if (!given_.empty() && given_.size() != types) {
    throw Error(Join(component_, ": parameter 'means': expected one for each of the ", types,
                     " job types, found ", given_.size()));
  }
  sum_.assign(types, 0.0);
  count_.assign(types, 0.0);
  all_sum_ = all_count_ = 0.0;
}

void ClassMeans::Learn(const ClusterView& view) {
  if (!given_.empty()) return;
  for (int job : view.completed()) {
    const double steps = view.AttainedSteps(job);
    sum_[U(view.JobType(job))] += steps;
    count_[U(view.JobType(job))] += 1.0;
    all_sum_ += steps;
    all_count_ += 1.0;
  }
}

double ClassMeans::Mean(int job_type) const {
  if (!given_.empty()) return given_[U(job_type)];
  if (count_[U(job_type)] > 0.0) return sum_[U(job_type)] / count_[U(job_type)];
  return all_count_ > 0.0 ? all_sum_ / all_count_ : 1.0;
}

constexpr ParamInfo kCMuParams[] = {kMeansParam, kOvertakeParam};

// The c-mu rule: among classes (job types) the one of the greatest cost of waiting times rate of service goes
// first, here weight / (mean GPU-seconds of the class on its fastest type), then arrival order. It minimises
// the mean weighted wait in M/G/1 among non-preemptive rules that do not know sizes (Cox & Smith 1961).
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

constexpr ParamInfo kMaxWeightParams[] = {kMeansParam};

// A queue for each job type, served by GPU types at their own rates: an idle GPU type takes from the queue of
// the greatest weight x length x rate of service (MaxWeight), the head of that queue first. It keeps the
// queues stable wherever any rule can. Weight is the head's, the rate 1 / mean seconds of the job type there.
// The chosen head blocks the GPU type until it fits, so gangs get their turn.
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

SchedulerInfo CMuInfo() {
  return {"c_mu",
          "greatest weight over mean GPU-seconds of the job type first, then arrival; O(n log n)",
          "c-mu rule: Smith 1956; Cox & Smith, Queues, 1961, §3.6",
          "",
          Knowledge::kBlind,
          /*preemptive=*/false,
          kCMuParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const ClassMeans means(params, "c_mu");
            return std::make_unique<CMu>(means, params.Bool(kOvertakeParam.name));
          },
          /*claims=*/{.types = true}};
}

SchedulerInfo MaxWeightInfo() {
  return {"max_weight",
          "a queue per job type; GPU types take from the greatest weight x length x rate; O(starts types "
          "classes)",
          "MaxWeight: Tassiulas & Ephremides 1992; multi-class queues: Stolyar 2004",
          "",
          Knowledge::kBlind,
          /*preemptive=*/false,
          kMaxWeightParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<MaxWeight>(ClassMeans(params, "max_weight"));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
