#include "env/gym/running_sums.hpp"

#include <algorithm>
#include <functional>

#include "env/base/index.hpp"

namespace berth {
double SlowdownPerSecond(const Scenario& scenario, int job) {
  return 1.0 / std::max(scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job), 10.0);
}

double DemandPerSecond(const Scenario& scenario, int job) {
  return scenario.data().jobs.gang[U(job)] * (scenario.GpuMilli(job) / 1000.0);
}

void RunningSums::Begin(const Simulator& simulator) {
  time_ = simulator.now();
  slowdown_ = growth_ = demand_ = demand_growth_ = 0.0;
  seen_ = in_system_ = misses_ = 0;
  deadlines_.clear();
  if (!simulator.scenario().data().jobs.deadline.empty())
    deadlines_.reserve(U(simulator.scenario().num_jobs()));
  rejected_.assign(U(simulator.scenario().num_jobs()), 0);
  TakeIn(simulator);
  for (int job = 0; job < seen_; ++job) {
    if (simulator.state().completion[U(job)] != kNever) Leave(simulator, job);
  }
  PassDeadlines(simulator);
  for (int job = 0; job < seen_; ++job) TurnAway(simulator, job);
}

void RunningSums::Observe(const Simulator& simulator) {
  slowdown_ += growth_ * (simulator.now() - time_);
  demand_ += demand_growth_ * (simulator.now() - time_);
  time_ = simulator.now();
  TakeIn(simulator);
  for (int job : simulator.state().completed) Leave(simulator, job);
  PassDeadlines(simulator);
  for (int job : simulator.state().changed) TurnAway(simulator, job);
}

// Not who may run since: that of jobs held back until others are done is later.
void RunningSums::TakeIn(const Simulator& simulator) {
  for (; seen_ < simulator.arrived_jobs(); ++seen_) Arrive(simulator, seen_);
}

void RunningSums::Arrive(const Simulator& simulator, int job) {
  const JobTable& jobs = simulator.scenario().data().jobs;
  const double rate = SlowdownPerSecond(simulator.scenario(), job);
  slowdown_ += rate * (time_ - jobs.arrival[U(job)]);
  growth_ += rate;
  const double demand = DemandPerSecond(simulator.scenario(), job);
  demand_ += demand * (time_ - jobs.arrival[U(job)]);
  demand_growth_ += demand;
  ++in_system_;
  if (jobs.deadline.empty() || jobs.deadline[U(job)] == kNever) return;
  deadlines_.emplace_back(jobs.deadline[U(job)], job);
  std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
}

void RunningSums::Leave(const Simulator& simulator, int job) {
  const double since = time_ - simulator.LeftAt(job);
  const double rate = SlowdownPerSecond(simulator.scenario(), job);
  slowdown_ -= rate * since;
  const double demand = DemandPerSecond(simulator.scenario(), job);
  demand_ -= demand * since;
  const bool empty = --in_system_ == 0;  // no rounding outlives the jobs
  growth_ = empty ? 0.0 : growth_ - rate;
  demand_growth_ = empty ? 0.0 : demand_growth_ - demand;
}

void RunningSums::PassDeadlines(const Simulator& simulator) {
  while (!deadlines_.empty() && Misses(time_, deadlines_.front().first)) {
    const auto [deadline, job] = deadlines_.front();
    std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
    deadlines_.pop_back();
    if (rejected_[U(job)] == 0) misses_ += Misses(simulator.state().completion[U(job)], deadline) ? 1 : 0;
  }
}

// Whoever is turned away misses it now, not when it would have passed: what a decision costs is paid with it.
void RunningSums::TurnAway(const Simulator& simulator, int job) {
  if (simulator.state().phase[U(job)] != JobPhase::kRejected || rejected_[U(job)] != 0) return;
  rejected_[U(job)] = 1;
  Leave(simulator, job);
  const std::vector<double>& deadlines = simulator.scenario().data().jobs.deadline;
  if (deadlines.empty() || deadlines[U(job)] == kNever) return;
  misses_ += Misses(time_, deadlines[U(job)]) ? 0 : 1;  // else it was counted as it passed
}

}  // namespace berth
