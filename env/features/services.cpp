#include "env/features/services.hpp"

namespace berth {

std::span<const Field<ServiceSettings>> ServiceSettings::Fields() {
  return {};
}

void ServiceSettings::Check(const ScenarioData&) const {}

}  // namespace berth
