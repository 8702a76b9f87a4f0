// Inference services with request streams share the cluster.
#pragma once

#include <span>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

struct ServiceSettings {
  static constexpr const char* kHelp = "inference services with request streams share the cluster";
  static std::span<const Field<ServiceSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

}  // namespace berth
