// What the settings of feature partitions make of a cluster. For env/features/ alone.
#pragma once

#include <vector>

#include "env/features/partitions/partitions.hpp"

namespace berth {

std::vector<PartitionGroup> PartitionGroups(const PartitionSettings& settings,
                                            const ScenarioData& data);  // throws Error

}  // namespace berth
