// Gangs may run on more or fewer GPUs than they ask for.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct ElasticitySettings {
  static constexpr const char* kHelp = "gangs may run on more or fewer GPUs than they ask for";
  static std::span<const Field<ElasticitySettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
