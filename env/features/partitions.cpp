#include "env/features/partitions.hpp"

namespace berth {

std::span<const Field<PartitionSettings>> PartitionSettings::Fields() {
  return {};
}

void PartitionSettings::Check(const ScenarioData&) const {}

}  // namespace berth
