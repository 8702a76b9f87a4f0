#include "env/features/power.hpp"

namespace berth {

std::span<const Field<PowerSettings>> PowerSettings::Fields() {
  return {};
}

void PowerSettings::Check(const ScenarioData&) const {}

}  // namespace berth
