// Who waits for whom, from the settings of the feature stages.
#pragma once

#include <vector>

#include "env/base/rng.hpp"

namespace berth {

struct ScenarioData;
struct StageSettings;

inline constexpr Purpose kDependencyDraws{16};

// [J] the jobs each waits for, ascending, without repetition. Throws Error for an unknown job, a job that
// waits for itself, and a cycle, each in one line.
std::vector<std::vector<int>> Parents(const StageSettings& settings, const ScenarioData& scenario);

}  // namespace berth
