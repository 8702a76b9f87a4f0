// Who waits for whom, from the settings of the feature stages.
#pragma once

#include <memory>
#include <vector>

namespace berth {

struct JobTable;
struct ScenarioData;
struct StageSettings;

// [J] the jobs each waits for, ascending, without repetition. Throws Error for an unknown job, a job that
// waits for itself, and a cycle, each in one line.
std::vector<std::vector<int>> Parents(const ScenarioData& scenario);

// The settings for a part of the jobs: who waits for a job that is not among them waits for it no more.
std::shared_ptr<const StageSettings> OfJobs(const StageSettings& settings, const JobTable& jobs);

}  // namespace berth
