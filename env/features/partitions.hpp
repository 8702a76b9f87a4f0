// GPUs are partitioned into slices (MIG).
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct PartitionSettings {
  static constexpr const char* kHelp = "GPUs are partitioned into slices (MIG)";
  static std::span<const Field<PartitionSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
