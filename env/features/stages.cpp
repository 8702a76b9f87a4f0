#include "env/features/stages.hpp"

namespace berth {

std::span<const Field<StageSettings>> StageSettings::Fields() {
  return {};
}

void StageSettings::Check(const ScenarioData&) const {}

}  // namespace berth
