// What the optimising schedulers solve: waiting jobs on GPU types of several identical GPUs each, no
// preemption (R || C_max and R || sum w C of scheduling theory, with parallel machines and gangs).
#pragma once

#include <span>
#include <vector>

#include "env/sim/cluster_view.hpp"

namespace berth {

enum class Target { kMakespan, kWeightedCompletion };

// n jobs, G types; all times in s from now.
struct Instance {
  std::vector<int> job;         // [n] index in the scenario
  std::vector<int> gang;        // [n]
  std::vector<double> weight;   // [n]
  std::vector<double> seconds;  // [n, G] on that type, with what its start costs; kNever = cannot
  std::vector<std::vector<double>> free_at;  // [G][count] when each GPU is free, ascending

  double last_free() const;  // when the last running job ends

  int jobs() const { return static_cast<int>(job.size()); }
  int types() const { return static_cast<int>(free_at.size()); }
  double at(int i, int type) const {
    return seconds[static_cast<std::size_t>(i) * free_at.size() + static_cast<std::size_t>(type)];
  }
};

// The waiting jobs that can run somewhere, in arrival order; running ones keep their GPUs until their end.
// Needs kEstimate. In a part of a cluster a type has as many GPUs as the part.
void Describe(const ClusterView& view, Instance& instance);

// An order of all jobs and the type of each. Jobs of a type start in this order, each as soon as its gang has
// GPUs and not before those ahead of it have started.
struct Assignment {
  std::vector<int> order;  // [n] a permutation of 0..n-1
  std::vector<int> type;   // [n] by job
};

// Seconds on the job's fastest type.
double Fastest(const Instance& instance, int i);

// Starts a gang of k on GPUs that free at these times (ascending), not before `ready`; when it starts.
double Occupy(std::vector<double>& free_at, int k, double ready, double seconds);

// The value of an assignment: latest end, of jobs that run now too, or sum of weight x end of those assigned.
// O(n GPUs).
class ListSchedule {
 public:
  double Value(const Instance& instance, const Assignment& assignment, Target target);
  // Of the last Value: [n] ends of jobs, s.
  std::span<const double> ends() const { return end_; }

 private:
  std::vector<std::vector<double>> free_at_;
  std::vector<double> ready_;  // [G] the latest start so far
  std::vector<double> end_;
};

// Each job in `order` onto the type where it ends soonest.
Assignment EarliestFinish(const Instance& instance, std::span<const int> order);
// The better of arrival order and (weighted) shortest first, by EarliestFinish.
Assignment Greedy(const Instance& instance, Target target, double& value);

// A lower bound on every assignment's value, in O(n log n): no job ends before its fastest time, or if it
// runs before its end; and the GPU-seconds of jobs, each at its least, have to pass through all GPUs (for
// sums: mean busy times on one machine as fast as all, in Smith's order; Eastman, Even & Isaacs 1964).
double QuickBound(const Instance& instance, Target target);

}  // namespace berth
