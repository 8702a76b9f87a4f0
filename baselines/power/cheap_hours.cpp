// Waits for cheap electricity: a job with a deadline begins when its run costs least among the starts that
// still meet the deadline with a margin, the earliest of them; one without a deadline, or that was
// interrupted, at once. Of those that are due the earliest deadline comes first, on the fastest type with
// room. Wiesner, Behnke, Scheinert, Gontarska & Thamsen, "Let's wait awhile: how temporal workload shifting
// can reduce carbon emissions in the cloud", Middleware 2021 (jobs that may not be interrupted), with prices
// in the place of carbon; Qureshi et al., SIGCOMM 2009.
//
// The price is constant within an hour, so what a run of d seconds from s on costs is linear in s but where s
// or s + d is a full hour: the least is at one of those, at the first or at the last start.
#include <algorithm>
#include <cmath>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/power/power.hpp"

namespace berth {
namespace {

constexpr ParamInfo kCheapHoursParams[] = {
    {"margin", "0.25", "part of its run time that a job keeps free before its deadline, for waiting GPUs"},
};

class CheapHours final : public Scheduler {
 public:
  explicit CheapHours(double margin) : margin_(margin) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView& view) override { begin_.assign(U(view.num_jobs()), -1.0); }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    double next = kNever;
    for (int job : view.waiting()) {
      double& begin = begin_[U(job)];
      if (begin < 0.0) begin = Planned(view, job);
      if (begin <= view.now() || view.LastTypeOf(job) >= 0) {
        order_.push_back({view.Deadline(job), job});
      } else {
        next = std::min(next, begin);
      }
    }
    plan_.Begin(view, /*preemptive=*/false);
    StartByRank(view, order_, /*overtake=*/true, plan_);
    plan_.Emit(view, decision);
    decision.wake_at = next;
  }

 private:
  double Planned(const ClusterView& view, int job) const {
    const double now = view.now(), deadline = view.Deadline(job);
    if (view.Find<PowerState>() == nullptr || deadline == kNever) return now;
    const PowerSettings& power = *view.features().Find<PowerSettings>();
    const double run = view.RemainingSteps(job) / view.BestRate(job);
    // Prices repeat: a later start than one round of them away costs no less.
    const double round = 3600.0 * static_cast<double>(power.electricity_price.size());
    const double latest = std::min(deadline - run * (1.0 + margin_), now + round);
    if (power.electricity_price.empty() || latest <= now) return now;
    double best = now, least = Cost(power, now, run);
    const auto consider = [&](double start) {
      if (start <= now || start > latest) return;
      const double cost = Cost(power, start, run);
      const double less = 1e-9 * std::max(1.0, std::abs(least));  // what rounding makes of equal costs
      if (cost < least - less || (cost < least + less && start < best)) best = start, least = cost;
    };
    consider(latest);
    const double begins = power.begins_s;
    for (double hour = 3600.0 * std::ceil((now + begins) / 3600.0); hour <= latest + run + begins;
         hour += 3600.0) {
      consider(hour - begins), consider(hour - begins - run);
    }
    return best;
  }

  static double Cost(const PowerSettings& power, double start, double run) {  // of one watt
    return power.PriceIntegral(start + run) - power.PriceIntegral(start);
  }

  double margin_;
  std::vector<double> begin_;  // [J] s, < 0 = not planned yet
  Plan plan_;
  Ranking order_;
};

}  // namespace

SchedulerInfo CheapHoursInfo() {
  return {
      "cheap_hours",
      "delays jobs with deadlines to the hours in which electricity is cheapest; O(n log n + new hours^2)",
      "Wiesner, Behnke, Scheinert, Gontarska & Thamsen, Middleware 2021; Qureshi et al., SIGCOMM 2009",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      kCheapHoursParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<CheapHours>(params.Number("margin", 0.0, 1e6));
      },
      /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
