#include "env/features/topology.hpp"

namespace berth {

std::span<const Field<TopologySettings>> TopologySettings::Fields() {
  return {};
}

void TopologySettings::Check(const ScenarioData&) const {}

}  // namespace berth
