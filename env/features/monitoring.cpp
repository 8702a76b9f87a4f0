#include "env/features/monitoring.hpp"

namespace berth {

std::span<const Field<MonitoringSettings>> MonitoringSettings::Fields() {
  return {};
}

void MonitoringSettings::Check(const ScenarioData&) const {}

}  // namespace berth
