// What saving, restoring and losing work costs, by size and bandwidth.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct CheckpointSettings {
  static constexpr const char* kHelp = "what saving, restoring and losing work costs, by size and bandwidth";
  static std::span<const Field<CheckpointSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
