// The options that say what an environment is, beside the workload: `berth train` and the Python package
// declare the same ones, so that what one of them trains in the other can name.
#pragma once

#include <memory>

#include "env/gym/vec_env.hpp"
#include "tools/scenario_defaults.hpp"
#include "tools/scenario_options.hpp"

namespace berth {

inline constexpr const char* kAuto = "auto";  // of an option: as the others and the workload say

// --visible, --order, --encoder, --reward, --tau, --semantics, --commit-backfill, --preemptive, --on-change,
// --work-conserving: MdpSpec, those of `mdp` where they are not given.
void AddProcessOptions(Options& options, const MdpSpec& mdp = {});
// Of those options, --tau being a number (ResolveDefaults). Throws Error naming the option.
MdpSpec ResolveProcess(const Options& options, Knowledge knowledge);
// --episode-jobs, --jobs; where `warmup` --warmup-jobs and --signal too.
void AddEpisodeOptions(Options& options, bool warmup = true, const std::string& signal = "reward");

struct EnvironmentChoice {
  std::shared_ptr<const ScenarioSource> source;
  Scenario sample;  // of one job
  SchedEnvOptions env;
  WorkloadNumbers numbers;
  std::string chosen;  // what options that were "auto" have become and why, a line, or ""
};
// Of the options above and those of AddScenarioOptions; what was `auto` has its value afterwards. Throws
// Error naming the option. `own`: workloads in the place of the options', where it is given.
EnvironmentChoice ResolveEnvironment(Options& options, std::uint64_t seed,
                                     std::shared_ptr<const ScenarioSource> own = nullptr);

// Error before they are made where `envs` environments with observations of `size` numbers are more than any
// machine should hold: at most 2^28 numbers in all. `where` names the options that they come from.
void CheckObservations(std::int64_t envs, std::int64_t size, const std::string& where);

// --episode-jobs and --jobs alone.
int ResolveEpisodeJobs(const Options& options);
Window ResolveJobs(const Options& options, const ScenarioSource& source);

}  // namespace berth
