#include "baselines/optimisation/planned.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "baselines/ranking.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// The first `n` jobs alone.
Instance Head(const Instance& whole, int n) {
  Instance head = whole;
  head.job.resize(U(n)), head.gang.resize(U(n)), head.weight.resize(U(n));
  head.seconds.resize(U(n) * whole.free_at.size());
  return head;
}

// Jobs beyond the horizon follow in arrival order, each where it ends soonest.
void Append(const Instance& whole, Assignment& assignment) {
  std::vector<int> order = assignment.order;
  Instance rest = whole;
  for (std::size_t i = 0; i < assignment.type.size();
       ++i) {  // the plan's types are the only ones it may take
    for (int type = 0; type < whole.types(); ++type) {
      if (type != assignment.type[i]) rest.seconds[i * whole.free_at.size() + U(type)] = kNever;
    }
  }
  for (int i = static_cast<int>(assignment.order.size()); i < whole.jobs(); ++i) order.push_back(i);
  assignment = EarliestFinish(rest, order);
}

}  // namespace

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
  Solution solution;
  std::vector<int> all(U(std::min(instance_.jobs(), horizon_)));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() == 1) {
    solution.assignment = EarliestFinish(instance_, all);
  } else if (instance_.jobs() > horizon_) {
    solution = solver_->Solve(Head(instance_, horizon_), report_);
  } else {
    solution = solver_->Solve(instance_, report_);
  }
  if (report_ && all.size() > 1) {
    std::fprintf(stderr, "%s at %.17g s: %zu jobs, %s\n", name_.c_str(), view.now(), all.size(),
                 DescribeGap(solution.value, solution.bound).c_str());
  }
  if (instance_.jobs() > static_cast<int>(all.size())) Append(instance_, solution.assignment);
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

void Planned::Insert(int i, Assignment& plan) {
  const std::vector<int> order = plan.order;
  double least = kNever;
  Assignment best;
  for (int type = 0; type < instance_.types(); ++type) {
    if (instance_.at(i, type) == kNever) continue;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < order.size() && places.size() < U(horizon_); ++k) {
      if (plan.type[U(order[k])] == type) places.push_back(k);
    }
    places.push_back(order.size());
    for (std::size_t place : places) {
      Assignment tried{order, plan.type};
      tried.order.insert(tried.order.begin() + static_cast<std::ptrdiff_t>(place), i);
      tried.type[U(i)] = type;
      const double value = schedule_.Value(instance_, tried, solver_->target());
      if (value < least) least = value, best = std::move(tried);
    }
  }
  plan = std::move(best);
}

const std::vector<int>& Planned::Repair(const ClusterView& view) {
  repaired_.clear();
  Describe(view, instance_);
  Assignment plan = Queued();
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (plan.type[U(i)] >= 0) continue;
    Insert(i, plan);
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
