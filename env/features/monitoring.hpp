// Series of what the cluster does over time.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct MonitoringSettings {
  static constexpr const char* kHelp = "series of what the cluster does over time";
  static std::span<const Field<MonitoringSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
