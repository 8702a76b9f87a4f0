#include "env/features/estimates.hpp"

namespace berth {

std::span<const Field<EstimateSettings>> EstimateSettings::Fields() {
  return {};
}

void EstimateSettings::Check(const ScenarioData&) const {}

}  // namespace berth
