#include "env/features/latency.hpp"

namespace berth {

std::span<const Field<LatencySettings>> LatencySettings::Fields() {
  return {};
}

void LatencySettings::Check(const ScenarioData&) const {}

}  // namespace berth
