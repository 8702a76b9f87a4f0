// Schedulers that plan ahead: when jobs have arrived a plan for all that wait is made, and carried out in its
// order, type by type, until others arrive. Running jobs are never disturbed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "baselines/optimisation/instance.hpp"
#include "env/base/rng.hpp"
#include "env/base/spec.hpp"
#include "env/sim/scheduler.hpp"

namespace berth {

struct Solution {
  Assignment assignment;
  double value = 0.0;  // of the list schedule that the assignment is
  double bound = 0.0;  // no assignment has less; 0 = not computed
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual Target target() const = 0;
  virtual void Reset(std::uint64_t seed) { (void)seed; }
  // REQUIRES: at least two jobs. The bound only where `bounded`.
  virtual Solution Solve(const Instance& instance, bool bounded) = 0;
};

inline constexpr ParamInfo kTargetParam = {
    "objective", "completion", "completion: sum of weight x completion time | makespan: the last completion"};
inline constexpr ParamInfo kHorizonParam = {"horizon", "64",
                                            "jobs planned at once: the least GPU-seconds over weight first "
                                            "(makespan: the earliest); the others follow, "
                                            "each where it ends soonest; from 1"};
inline constexpr ParamInfo kReportParam = {
    "report", "none", "none | stderr: a line for every plan, with its value, bound and gap"};
Target ReadTarget(Params& params);

class Planned final : public Scheduler {
 public:
  // `name` stands in reports.
  Planned(std::string name, std::unique_ptr<Solver> solver, int horizon, bool report)
      : name_(std::move(name)), solver_(std::move(solver)), horizon_(horizon), report_(report) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

  // Its steps, for a scheduler that keeps a plan longer (hybrid.cpp). Those that wait no more leave the plan,
  // and those that a part of a cluster has become too small for; how many are left in it.
  std::size_t Forget(const ClusterView& view);
  void Plan(const ClusterView& view);  // anew, for all that wait
  // Puts each waiting job that the plan lacks where it does the objective least harm, the others keeping
  // their order: on any type, before one of its next `horizon` jobs or behind all. Those that it put, in
  // arrival order. O(n GPUs) for each place tried.
  const std::vector<int>& Repair(const ClusterView& view);
  void CarryOut(const ClusterView& view, Decision& decision) const;
  std::span<const std::vector<int>> queues() const { return queue_; }  // [G] jobs, the next to start first
  // When each queued job is to start, s, by [J]; others have no meaning. As of now, by what is known now.
  void Expect(const ClusterView& view, std::vector<double>& start);

 private:
  Assignment Queued() const;

  std::string name_;
  std::unique_ptr<Solver> solver_;
  int horizon_;
  bool report_;
  Instance instance_;
  std::vector<std::vector<int>> queue_;  // [G] jobs in the order in which they are to start
  std::vector<int> repaired_;
  ListSchedule schedule_;
};

// What solvers that draw have in common: the objective, and draws that come from the scenario's seed.
class SeededSolver : public Solver {
 public:
  explicit SeededSolver(Target target) : target_(target) {}
  Target target() const override { return target_; }
  void Reset(std::uint64_t seed) override { stream_.emplace(seed, Purpose::kScheduler); }

 protected:
  // REQUIRES: Reset before.
  int Draw(int n) { return static_cast<int>(stream_->Below(static_cast<std::uint32_t>(n))); }  // 0..n-1
  double Uniform() { return stream_->Uniform(); }

  const Target target_;
  ListSchedule schedule_;

 private:
  std::optional<Stream> stream_;
};

// Reads kHorizonParam and kReportParam.
std::unique_ptr<Scheduler> MakePlanned(const char* name, std::unique_ptr<Solver> solver, Params& params);

// "value 10, bound 8, gap 20%": the gap is (value - bound) / value.
std::string DescribeGap(double value, double bound);

}  // namespace berth
