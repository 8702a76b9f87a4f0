// The blocks of the decision process itself: X(function that gives the BlockInfo, defined in the block's own
// file). Those of features stand in their modules (env/features/table.hpp); encoder.hpp has them all.
#pragma once

#include "env/sim/observation_block.hpp"

#define BERTH_GYM_BLOCKS(X) \
  X(QueueBlock)             \
  X(SizesBlock)             \
  X(RanksBlock)             \
  X(PricesBlock)            \
  X(AssignmentBlock)        \
  X(SpendingBlock)          \
  X(BatchBlock)             \
  X(LookaheadBlock)         \
  X(ArrivalsBlock)          \
  X(NodesBlock)             \
  X(DevicesBlock)           \
  X(TenantsBlock)           \
  X(RlSchedulerBlock)

namespace berth {

#define BERTH_DECLARE(function) BlockInfo function();
BERTH_GYM_BLOCKS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
