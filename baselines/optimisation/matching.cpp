// Maximum-weight matching of jobs to GPUs, anew at every decision point: the weight of a job on a GPU is its
// speed there over its remaining work, 1 / seconds left with what a change costs, so that what is about to
// end ends first, each job where it is fast. Exact for jobs of one GPU. A gang of k enters as k members of a
// k-th of its weight each; it goes to the type of most of its members, and if there is no room left, or they
// were matched nowhere, it waits. GPUs that are then left go to anybody by weight per GPU. On equal GPUs it
// is srpt.
//
// nash_welfare matches the same way for the greatest product of speeds instead, the Nash social welfare of an
// assignment (Nash 1950; proportional fairness where nobody shares a GPU): everybody goes where his
// comparative advantage is, whatever is left of him, and while not all fit those who would take the most GPU
// time wait. With weight=gpu a gang's speed counts as often as it takes GPUs (the asymmetric product, Kalai
// 1977), which loses less GPU time where gangs crowd.
#include <algorithm>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/grouped_assignment.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kStay = 1e-9;  // relative: of equal weights a running job keeps its type

// What being placed at all is worth, in units of ln: more than any slowness.
constexpr double kPlaced = 1000.0;

constexpr ParamInfo kNashParams[] = {
    {"weight", "job", "job counts every job's speed once; gpu a gang's as often as it takes GPUs"},
};

enum class Objective { kRate, kProduct, kProductOfGpus };

class Matching final : public Scheduler {
 public:
  explicit Matching(Objective objective) : objective_(objective) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    Weigh(view);
    Match(view);
    Fill(view);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, view.running(), decision);
  }

 private:
  // Of the i-th active job, per GPU.
  double Weight(int i, int type) const { return weight_[U(i) * types_ + U(type)]; }

  // Per GPU, of a job that takes `left` seconds there.
  double MemberWeight(const ClusterView& view, int job, double left) const {
    const double gang = view.Gang(job);
    if (objective_ == Objective::kRate) return 1.0 / (left * gang);
    const double alone = std::max(view.RemainingSteps(job) / view.BestRate(job), 1e-9);
    const double weight = objective_ == Objective::kProductOfGpus ? gang : 1.0;
    return kPlaced - Log(alone * gang) - Log(left / alone) * weight / gang;
  }

  // All weights, and the jobs that any matching of the greatest weight needs: on each type those of the
  // greatest weights that fill all GPUs, for anyone else could give way to one of them that is not placed.
  void Weigh(const ClusterView& view) {
    types_ = U(view.num_types());
    int gpus = 0;
    for (const GpuType& type : view.types()) gpus += type.count;
    const auto active = view.active();
    weight_.clear();
    for (int job : active) {
      for (int type = 0; type < view.num_types(); ++type) {
        const double left = view.RemainingSeconds(job, type) + ChangeSeconds(view, job, type);
        const double stay = view.TypeOf(job) == type ? 1.0 + kStay : 1.0;
        const bool open = left < kNever && !plan_.Placed(job);
        weight_.push_back(open ? stay * MemberWeight(view, job, std::max(left, 1e-9)) : 0.0);
      }
    }
    is_needed_.assign(active.size(), 0);
    for (std::size_t type = 0; type < types_; ++type) {
      order_.clear();
      for (std::size_t i = 0; i < active.size(); ++i) {
        const double weight = weight_[i * types_ + type];
        if (weight > 0.0) order_.push_back({-weight, static_cast<int>(i)});
      }
      std::sort(order_.begin(), order_.end());
      int members = 0;
      for (const auto& [negative, i] : order_) {
        if (members >= gpus) break;
        is_needed_[U(i)] = 1;
        members += view.Gang(active[U(i)]);
      }
    }
    needed_.clear();
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (is_needed_[i] != 0) needed_.push_back(static_cast<int>(i));
    }
  }

  // members_[m, G]: how many members of a needed job are matched to GPUs of each type.
  void Match(const ClusterView& view) {
    room_.clear(), gangs_.clear(), cost_.clear();
    for (const GpuType& type : view.types()) room_.push_back(std::max(0, type.count));
    int members = 0;
    for (int i : needed_) {
      gangs_.push_back(view.Gang(view.active()[U(i)]));
      members += gangs_.back();
      for (std::size_t type = 0; type < types_; ++type) {
        const double weight = Weight(i, static_cast<int>(type));
        cost_.push_back(weight > 0.0 ? -weight : kNever);
      }
      cost_.push_back(0.0);
    }
    room_.push_back(members);  // matched nowhere
    members_.clear();
    const std::span<const int> in = assignment_.Solve(cost_, gangs_, room_);
    for (std::size_t cell = 0; cell < in.size(); ++cell) {
      if (cell % (types_ + 1) < types_) members_.push_back(in[cell]);
    }
  }

  void Fill(const ClusterView& view) {
    order_.clear();
    for (std::size_t k = 0; k < needed_.size(); ++k) {
      const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(k * types_);
      const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(types_));
      const int type = static_cast<int>(most - begin);
      const int i = needed_[k];
      if (*most > 0) order_.push_back({-Weight(i, type), i * static_cast<int>(types_) + type});
    }
    Take(view);
    order_.clear();  // what is left, by weight per GPU, to anybody: gangs that do not fit leave room
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const int job = view.active()[k / types_], type = static_cast<int>(k % types_);
      if (weight_[k] > 0.0 && FitsOrStays(view, plan_, job, type))
        order_.push_back({-weight_[k], static_cast<int>(k)});
    }
    Take(view);
  }

  // Puts the (job, type) pairs of `order_` that fit, the greatest weight first.
  void Take(const ClusterView& view) {
    std::sort(order_.begin(), order_.end());
    for (const auto& [negative, pair] : order_) {
      const int job = view.active()[U(pair) / types_], type = static_cast<int>(U(pair) % types_);
      if (FitsOrStays(view, plan_, job, type)) PutOrStay(view, plan_, job, type);
    }
  }

  Objective objective_;
  std::size_t types_ = 0;
  std::vector<double> weight_;                 // [active, G] per GPU; 0 = cannot run
  std::vector<char> is_needed_;                // [active]
  std::vector<int> needed_;                    // [m] of the active, ascending
  std::vector<int> gangs_, room_;              // [m]; GPUs of each type, and nowhere
  std::vector<double> cost_;                   // [members, G + 1]
  std::vector<int> members_;                   // [m, G]
  std::vector<std::pair<double, int>> order_;  // (-weight, what)
  GroupedAssignment assignment_;
  Plan plan_;
};

}  // namespace

SchedulerInfo MatchingInfo() {
  return {"matching",
          "preemptive maximum-weight matching of jobs to GPUs by speed over remaining work; O(n log n + GPUs "
          "G (G^2 + log GPUs))",
          "Ahuja, Magnanti and Orlin 1993 (assignment by successive shortest paths); MaxWeight matching by "
          "remaining work: srpt on unrelated machines",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<Matching>(Objective::kRate); }};
}

SchedulerInfo NashWelfareInfo() {
  return {
      "nash_welfare",
      "preemptive assignment of jobs to GPUs of the greatest product of speeds, while not all fit without "
      "those of most GPU time; O(n log n + GPUs G (G^2 + log GPUs))",
      "Nash 1950 and Kelly, Maulloo and Tan 1998 (proportional fairness), over assignments; Kalai 1977 "
      "(weights); Ahuja, Magnanti and Orlin 1993",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/true,
      kNashParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Matching>(
            params.Choice("weight", {"job", "gpu"}) == 1 ? Objective::kProductOfGpus : Objective::kProduct);
      }};
}

}  // namespace berth
