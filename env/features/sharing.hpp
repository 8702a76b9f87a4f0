// Several jobs share a GPU by fractions, time slices and QoS classes.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct SharingSettings {
  static constexpr const char* kHelp = "several jobs share a GPU by fractions, time slices and QoS classes";
  static std::span<const Field<SharingSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
