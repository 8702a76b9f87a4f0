// The one list of the objectives of gavel(objective=...): spec name, and the function that gives its row.
#pragma once

#include "baselines/gavel/objective.hpp"

#define BERTH_GAVEL_OBJECTIVES(X)                           \
  X(max_min, MaxMinObjective)                               \
  X(makespan, MakespanObjective)                            \
  X(finish_time_fairness, FinishTimeFairnessObjective)      \
  X(isolated, IsolatedObjective)                            \
  X(proportional, ProportionalObjective)                    \
  X(fifo, FifoObjective)                                    \
  X(water_filling, WaterFillingObjective)                   \
  X(hierarchical, HierarchicalObjective)                    \
  X(max_sum_throughput, MaxSumThroughputObjective)          \
  X(max_throughput_per_cost, MaxThroughputPerCostObjective) \
  X(allox, AlloxObjective)                                  \
  X(strategy_proof, StrategyProofObjective)                 \
  X(proportional_fairness, ProportionalFairnessObjective)

namespace berth::gavel {

#define BERTH_DECLARE(name, function) ObjectiveInfo function();
BERTH_GAVEL_OBJECTIVES(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth::gavel
