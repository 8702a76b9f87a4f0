// Jobs depend on each other and have stages on CPU, GPU and links.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct StageSettings {
  static constexpr const char* kHelp = "jobs depend on each other and have stages on CPU, GPU and links";
  static std::span<const Field<StageSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
