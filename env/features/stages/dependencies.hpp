// Who waits for whom, from the settings of the feature stages.
#pragma once

#include <vector>

namespace berth {

struct ScenarioData;
struct StageSettings;

// [J] the jobs each waits for, ascending, without repetition. Throws Error for an unknown job, a job that
// waits for itself, and a cycle, each in one line.
std::vector<std::vector<int>> Parents(const StageSettings& settings, const ScenarioData& scenario);

}  // namespace berth
