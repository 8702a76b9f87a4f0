#include "baselines/optimisation/planned.hpp"

#include <algorithm>
#include <cstdio>

#include "baselines/optimisation/horizon.hpp"
#include "baselines/optimisation/insertion.hpp"
#include "baselines/ranking.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

Target ReadTarget(Params& params) {
  return params.Choice(kTargetParam.name, {"completion", "makespan"}) == 1 ? Target::kMakespan
                                                                           : Target::kWeightedCompletion;
}

std::unique_ptr<Scheduler> MakePlanned(const char* name, std::unique_ptr<Solver> solver, Params& params) {
  const auto horizon = static_cast<int>(params.Integer(kHorizonParam.name, 1, 1000000));
  const bool report = params.Choice(kReportParam.name, {"none", "stderr"}) == 1;
  return std::make_unique<Planned>(name, std::move(solver), horizon, report);
}

std::string DescribeGap(double value, double bound) {
  return Join("value ", value, ", bound ", bound, ", gap ",
              value > 0.0 ? 100.0 * std::max(0.0, value - bound) / value : 0.0, "%");
}

void Planned::Reset(const ClusterView& view) {
  solver_->Reset(view.seed());
  queue_.assign(U(view.num_types()), {});
}

void Planned::Plan(const ClusterView& view) {
  Describe(view, instance_);
  for (auto& queue : queue_) queue.clear();
  if (instance_.jobs() == 0) return;
  const int planned = std::min(instance_.jobs(), horizon_);
  const Solution solution =
      PlanFirst(instance_, solver_->target(), planned,
                [this](const Instance& instance) { return solver_->Solve(instance, report_); });
  if (report_ && planned > 1) {
    std::fprintf(stderr, "%s at %.17g s: %d jobs, %s\n", name_.c_str(), view.now(), planned,
                 DescribeGap(solution.value, solution.bound).c_str());
  }
  for (int i : solution.assignment.order) {
    queue_[U(solution.assignment.type[U(i)])].push_back(instance_.job[U(i)]);
  }
}

std::size_t Planned::Forget(const ClusterView& view) {
  std::size_t queued = 0;
  for (int type = 0; type < view.num_types(); ++type) {
    auto& queue = queue_[U(type)];
    std::erase_if(queue, [&](int job) { return !view.IsWaiting(job) || !CanRun(view, job, type); });
    queued += queue.size();
  }
  return queued;
}

// The plan as an assignment of the jobs of `instance_`, type by type.
Assignment Planned::Queued() const {
  Assignment plan{{}, std::vector<int>(instance_.job.size(), -1)};
  for (int type = 0; type < instance_.types(); ++type) {
    for (int job : queue_[U(type)]) {
      const auto at = std::lower_bound(instance_.job.begin(), instance_.job.end(), job);
      plan.order.push_back(static_cast<int>(at - instance_.job.begin()));
      plan.type[U(plan.order.back())] = type;
    }
  }
  return plan;
}

const std::vector<int>& Planned::Repair(const ClusterView& view) {
  repaired_.clear();
  Describe(view, instance_);
  Assignment plan = Queued();
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (plan.type[U(i)] >= 0) continue;
    Insert(instance_, solver_->target(), i, horizon_, plan);
    repaired_.push_back(instance_.job[U(i)]);
  }
  for (auto& queue : queue_) queue.clear();
  for (int i : plan.order) queue_[U(plan.type[U(i)])].push_back(instance_.job[U(i)]);
  return repaired_;
}

void Planned::Expect(const ClusterView& view, std::vector<double>& start) {
  Describe(view, instance_);
  start.resize(U(view.num_jobs()));
  const Assignment plan = Queued();
  schedule_.Value(instance_, plan, solver_->target());
  for (int i : plan.order) {
    start[U(instance_.job[U(i)])] = view.now() + schedule_.ends()[U(i)] - instance_.at(i, plan.type[U(i)]);
  }
}

void Planned::CarryOut(const ClusterView& view, Decision& decision) const {
  for (int type = 0; type < view.num_types(); ++type) {
    int room = view.free_gpus()[U(type)];
    for (int job : queue_[U(type)]) {
      if (view.Gang(job) > room) break;
      room -= view.Gang(job);
      decision.Start(job, type);
    }
  }
}

void Planned::Decide(const ClusterView& view, Decision& decision) {
  // Those that started, here or otherwise, have left; who arrived, or was stopped, asks for a new plan.
  if (Forget(view) != view.waiting().size()) Plan(view);
  CarryOut(view, decision);
}

}  // namespace berth
