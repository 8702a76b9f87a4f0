// The observation blocks of features, a function each: X(function that gives the BlockInfo).
#pragma once

#include "env/sim/observation_block.hpp"

#define BERTH_FEATURE_BLOCKS(X) \
  X(TopologyBlock)              \
  X(PartitionsBlock)            \
  X(SharingBlock)               \
  X(ElasticityBlock)            \
  X(CheckpointsBlock)           \
  X(FailuresBlock)              \
  X(LatencyBlock)               \
  X(PowerBlock)                 \
  X(ServicesBlock)              \
  X(StagesBlock)                \
  X(MonitoringBlock)            \
  X(ForecastBlock)

namespace berth {

#define BERTH_DECLARE(function) BlockInfo function();
BERTH_FEATURE_BLOCKS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
