// The experiments of `berth reproduce learned`: one file and one line each. An experiment plans its runs;
// when all are done it writes its part of the page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/reproduce/learned/policies.hpp"
#include "tools/reproduce/learned/targets.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

struct LearnedSettings {
  PolicyShelf policies;
  std::string traces;                    // "" = not there
  std::vector<std::uint64_t> workloads;  // seeds of the evaluation stream, at least 2
  int drawn = 8000;                      // jobs of row 1's workloads; 3000 to 4000 are measured
  bool quick = false;                    // fewer loads, workloads and schedulers
};

// What stands behind the whole page: what was measured against what issue and publications ask for.
struct LearnedPage {
  ReproductionPage page;
  std::vector<Target> targets;
};

// X(name, Name, summary): PlanName and ReportName. In the order of the page.
#define BERTH_LEARNED_EXPERIMENTS(X)                                                              \
  X("cluster", Cluster, "108 GPUs of three types, six loads, against every registered scheduler") \
  X("bound", Bound, "the least mean JCT that any scheduler can have at row 1's loads")            \
  X("horizon", Horizon, "row 1 by how many jobs go on arriving behind those that are measured")   \
  X("scale", Scale, "the same policies on 108 and 1,080 GPUs")                                    \
  X("learners", Learners, "PPO, DQN and REINFORCE at equal steps")                                \
  X("lublin", Lublin,                                                                             \
    "Lublin-1 and Lublin-2, each with the policies of the other, published figures beside")       \
  X("real", Real, "Microsoft ITP clusters and Philly, split by time")                             \
  X("objectives", Objectives, "makespan, finish-time fairness, cost, a weighted sum")             \
  X("ablations", Ablations, "with and without each ingredient")                                   \
  X("behaviour", Behaviour, "learning curves, what the policy does with the GPUs, a Gantt strip") \
  X("policies", Policies, "what is shipped and how it was trained")

#define BERTH_DECLARE_EXPERIMENT(name, Name, summary)                       \
  void Plan##Name(const LearnedSettings& settings, ReproductionRuns& runs); \
  void Report##Name(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out);
BERTH_LEARNED_EXPERIMENTS(BERTH_DECLARE_EXPERIMENT)
#undef BERTH_DECLARE_EXPERIMENT

}  // namespace berth
