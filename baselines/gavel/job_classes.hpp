// Jobs that a program cannot tell apart, written once (share_program.hpp says why nothing is lost).
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// Classes stand in the order of their first jobs.
struct JobClasses {
  std::vector<int> of_job;      // [m]
  std::vector<int> first;       // [n] a job of the class
  std::vector<double> members;  // [n]

  int size() const { return static_cast<int>(first.size()); }
};

// Alike: the same gang, the same row of `worth` [m, G] and of every further column [m].
void Classify(const Problem& problem, std::span<const double> worth,
              std::initializer_list<std::span<const double>> further, JobClasses& classes);

// One job of each class: workers, key, gang, weight, throughput and tenant; the tenants.
Problem OneOfEach(const Problem& problem, const JobClasses& classes);

}  // namespace berth::gavel
