#include "env/features/elasticity.hpp"

namespace berth {

std::span<const Field<ElasticitySettings>> ElasticitySettings::Fields() {
  return {};
}

void ElasticitySettings::Check(const ScenarioData&) const {}

}  // namespace berth
