// Power, clocks, caps, heat and the price of electricity.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct PowerSettings {
  static constexpr const char* kHelp = "power, clocks, caps, heat and the price of electricity";
  static std::span<const Field<PowerSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
