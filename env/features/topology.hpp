// GPUs sit in nodes and racks; gangs that are spread run slower.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct TopologySettings {
  static constexpr const char* kHelp = "GPUs sit in nodes and racks; gangs that are spread run slower";
  static std::span<const Field<TopologySettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
