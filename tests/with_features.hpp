// Scenarios of hand-made data with features, as the command line names them.
#pragma once

#include <string>
#include <utility>

#include "env/features/table.hpp"
#include "env/sim/scenario.hpp"

namespace berth::test {

// `clock`: "" leaves the data's own.
inline Scenario With(ScenarioData data, const std::string& features, const std::string& clock = "") {
  data.features = ParseFeatures(features);
  if (!clock.empty()) data.clock = Clock::Parse(clock);
  return Scenario(std::move(data));
}

}  // namespace berth::test
