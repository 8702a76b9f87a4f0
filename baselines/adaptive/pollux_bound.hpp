// How good an allocation can be at most: jobs choose their GPUs freely, and only sums are kept. No more GPUs
// than there are; jobs that span nodes take no more nodes together than there are, as no node hosts two. What
// is left out is that GPUs must be found together on nodes.
#pragma once

#include <vector>

#include "baselines/adaptive/pollux_objective.hpp"

namespace berth::pollux {

struct RelaxedChoice {
  int nodes = 0, replicas = 0;
  bool kept = false;  // the present row
};

struct RelaxedOption {
  RelaxedChoice choice;
  int spanned = 0;  // nodes, where more than one
  double cost = 0.0;
};

// What each job may choose, fewest GPUs first: without what costs no less than another that takes no more
// GPUs and spans no more nodes. [jobs]
std::vector<std::vector<RelaxedOption>> RelaxedOptions(const Objective& objective);

struct Relaxed {
  double cost = 0.0;                   // no allocation costs less; Objective::FitnessOf bounds its fitness
  std::vector<RelaxedChoice> choices;  // [jobs] that add up to it
};

// Exact dynamic programming over (GPUs, nodes): O(jobs x GPUs x nodes x choices of a job). At least one job.
Relaxed SolveRelaxed(const Objective& objective, const std::vector<std::vector<RelaxedOption>>& options);

}  // namespace berth::pollux
