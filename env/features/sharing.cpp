#include "env/features/sharing.hpp"

namespace berth {

std::span<const Field<SharingSettings>> SharingSettings::Fields() {
  return {};
}

void SharingSettings::Check(const ScenarioData&) const {}

}  // namespace berth
