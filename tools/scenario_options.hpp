// The options that say what is scheduled, and what they resolve to: --scenario FILE, or --workload SPEC on
// --cluster, or the defaults of data/workloads.hpp when neither is given.
#pragma once

#include <memory>
#include <string>

#include "data/tables/job_table.hpp"
#include "data/workloads.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "tools/options.hpp"

namespace berth {

// --cluster, --clock, --knowledge, --sigma, --checkpoint-cost, --restore-cost, --migration-cost.
// `cluster` and `clock` say what holds where they are not given.
void AddSettingOptions(Options& options, const std::string& cluster, const std::string& clock);
// --scenario, --format, --workload and the settings.
void AddScenarioOptions(Options& options);

struct WorkloadChoice {
  std::shared_ptr<const ScenarioSource> source;
  bool is_default = false;  // neither --scenario nor --workload was given
};
// Throws Error when flags contradict each other or the file. Writes what was resolved back into `options`, so
// that the recorded configuration does not lean on today's defaults.
WorkloadChoice ResolveWorkload(Options& options);

// A generator with the settings, both given or default.
std::shared_ptr<const ScenarioSource> ResolveGenerator(Options& options);
// The scenario file that `option` names, with the settings that are given; it holds its own cluster.
Scenario ReadScenarioFile(const std::string& option, const Options& options);
// A trace with the settings, the clock the format's unless given. Of a table says how it was understood.
inline constexpr const char* kTableFormat = "table";
Scenario ReadTable(const std::string& path, const JobTableRequest& request, Options& options);
JobTableScenario ReadTableQuietly(const std::string& path, const JobTableRequest& request, Options& options);
Scenario ReadTrace(const std::string& path, const std::string& format, Options& options);

// The workload of `seed` that no training can draw.
Scenario EvaluationScenario(const ScenarioSource& source, std::uint64_t seed);

// --window A:B, or another option of a range, against a number of jobs; all jobs when it was not given.
Window ResolveWindow(const Options& options, int jobs, const std::string& name = "window");

// --max-time, of verbs that run a scenario to its end.
void AddMaxTime(Options& options);
double MaxTime(const Options& options);  // s, kNever where it is not given

std::string ClusterText(const ClusterSpec& cluster);  // "v100=36/4,p100=36"
std::string SettingsText(
    const Scenario& scenario);  // "clock rounds(360), knowledge oracle, cluster v100=12,..."
// The same and ", 1000 jobs"; of jobs on parts of GPUs how many, where these run slower for it.
std::string ScenarioText(const Scenario& scenario);

}  // namespace berth
