// Schedulers see estimated throughputs in place of the true ones.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct EstimateSettings {
  static constexpr const char* kHelp = "schedulers see estimated throughputs in place of the true ones";
  static std::span<const Field<EstimateSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
