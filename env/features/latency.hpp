// The scheduler itself takes time, and decides at its own cadence.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct LatencySettings {
  static constexpr const char* kHelp = "the scheduler itself takes time, and decides at its own cadence";
  static std::span<const Field<LatencySettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
