#include "env/features/checkpoints.hpp"

namespace berth {

std::span<const Field<CheckpointSettings>> CheckpointSettings::Fields() {
  return {};
}

void CheckpointSettings::Check(const ScenarioData&) const {}

}  // namespace berth
