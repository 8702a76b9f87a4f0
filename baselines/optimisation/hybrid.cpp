// A static plan with dynamic repair (predictive-reactive scheduling): an optimiser's plan for all that wait
// is kept; who arrives later is put into it greedily, the others keeping their order, and the optimiser is
// asked again only
//   - when a period has passed, if one is set,
//   - when the plan has drifted: more than a share of the waiting jobs were put in by repair, or the next job
//     of a type is later by more than so many seconds than the plan said (running jobs overran).
// With drift=0 every arrival makes a new plan, which is the optimiser itself; where all is known at the start
// nothing is ever repaired, which is the optimiser too.
// Vieira, Herrmann & Lin, Rescheduling manufacturing systems, Journal of Scheduling 6, 2003: their hybrid
// policy (periodic and on drift), repair by insertion.
#include <algorithm>
#include <memory>

#include "baselines/optimisation/planned.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kHybridParams[] = {
    {"plan", "annealing",
     "the optimiser: milp | annealing | tabu_search | genetic | assignment_lp, with its parameters"},
    {"every_s", "inf", "s after which a new plan is made anyway; inf = only on drift"},
    {"drift", "0.5",
     "share of the waiting jobs that may be there by repair; 0 = a new plan at every arrival"},
    {"late_s", "inf", "s that the next job of a type may be later than planned"},
};

struct Triggers {
  double every_s, drift, late_s;
};

class Hybrid final : public Scheduler {
 public:
  Hybrid(std::unique_ptr<Planned> planned, const Triggers& triggers)
      : planned_(std::move(planned)), triggers_(triggers) {}
  Knowledge knowledge() const override { return planned_->knowledge(); }

  void Reset(const ClusterView& view) override {
    planned_->Reset(view);
    repaired_.assign(static_cast<std::size_t>(view.num_jobs()), 0);
    planned_at_ = -kNever;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    const std::size_t queued = planned_->Forget(view);
    const auto waiting = static_cast<double>(view.waiting().size());
    if (waiting == 0.0) return;
    double by_repair = waiting - static_cast<double>(queued);
    for (const auto& queue : planned_->queues()) {
      for (int job : queue) by_repair += repaired_[static_cast<std::size_t>(job)];
    }
    if (planned_at_ == -kNever || view.now() >= planned_at_ + triggers_.every_s ||
        by_repair > triggers_.drift * waiting || Late(view)) {
      Plan(view);
    } else if (queued < view.waiting().size()) {
      for (int job : planned_->Repair(view)) repaired_[static_cast<std::size_t>(job)] = 1;
    }
    planned_->CarryOut(view, decision);
    decision.wake_at = planned_at_ + triggers_.every_s;
  }

 private:
  void Plan(const ClusterView& view) {
    planned_->Plan(view);
    planned_at_ = view.now();
    std::fill(repaired_.begin(), repaired_.end(), 0);
    if (triggers_.late_s < kNever) planned_->Expect(view, start_);
  }

  // Repair delays those behind whom it puts in: only jobs of the plan itself are asked.
  bool Late(const ClusterView& view) const {
    if (triggers_.late_s == kNever) return false;
    for (const auto& queue : planned_->queues()) {
      for (int job : queue) {
        const auto j = static_cast<std::size_t>(job);
        if (repaired_[j] != 0) break;
        if (view.now() > start_[j] + triggers_.late_s) return true;
        break;
      }
    }
    return false;
  }

  std::unique_ptr<Planned> planned_;
  Triggers triggers_;
  double planned_at_ = -kNever;  // s; -kNever = not yet
  std::vector<char> repaired_;   // [J] put in since then
  std::vector<double> start_;    // [J] s, as planned; of jobs of the plan
};

std::unique_ptr<Planned> ReadPlan(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  std::unique_ptr<Scheduler> made;
  std::string name;
  const auto known = [&](const SchedulerInfo& info) { return name == info.name; };
  try {
    name = ParseSpec(spec).name;
    if (std::any_of(tables[0].begin(), tables[0].end(), known)) made = MakeScheduler(spec, tables);
  } catch (const Error& error) {
    throw Error(Join("hybrid: parameter 'plan': ", error.what()));
  }
  auto* planned = dynamic_cast<Planned*>(made.get());
  if (planned == nullptr) {
    static const std::vector<std::string> kOptimisers = {"milp", "annealing", "tabu_search", "genetic",
                                                         "assignment_lp"};
    throw Error(Join(
        "hybrid: parameter 'plan': expected milp, annealing, tabu_search, genetic or assignment_lp, found '",
        spec, "'", DidYouMean(name, kOptimisers)));
  }
  made.release();
  return std::unique_ptr<Planned>(planned);
}

}  // namespace

SchedulerInfo HybridInfo() {
  return {"hybrid",
          "keeps an optimiser's plan and repairs it greedily, plans anew on drift; O(types n^2) a repair",
          "Vieira, Herrmann & Lin, Rescheduling manufacturing systems, Journal of Scheduling 6, 2003",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kHybridParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            auto planned = ReadPlan(params.Text("plan"));
            Triggers triggers;
            triggers.every_s = params.Number("every_s", 0.0, kNever);
            triggers.drift = params.Number("drift", 0.0, 1.0);
            triggers.late_s = params.Number("late_s", 0.0, kNever);
            return std::make_unique<Hybrid>(std::move(planned), triggers);
          }};
}

}  // namespace berth
