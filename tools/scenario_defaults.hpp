// What --tau auto, --episode-jobs auto and --warmup-jobs auto come to: numbers of a training that follow from
// the workload's own. The one place where the rules stand.
//
//   tau           twice the typical run time, and ten rounds at least. What a decision changes shows while
//                 the jobs that it was about run; what comes long after it is the doing of other decisions
//                 and arrivals, and only noise (a smaller discount is a bias that takes variance away:
//                 Schulman et al. 2016, section 3). Typical is the geometric mean, which a few very long jobs
//                 do not move. Where all jobs come at once nothing else arrives: three times what the GPUs
//                 need for them. Rounded to what one would say.
//   warmup-jobs   as many arrivals as 2.5 times the jobs that the GPUs hold at once, and 100 at least, so
//                 that episodes begin with clusters from empty to full. Of a generator whose jobs come all at
//                 once: none.
//   episode-jobs  three times that, so that most of an episode is played on a full cluster; where all jobs of
//                 a generator come at once, as many as it says. Of a fixed scenario both are at most 1/8 and
//                 3/8 of its jobs where they are above 100 and 300, so that pieces differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "tools/options.hpp"

namespace berth {

// Of jobs as they are alone on their fastest type, on as many GPUs as Scenario::WorkingGpus says.
struct WorkloadNumbers {
  double typical_run_s = 0.0;  // geometric mean
  double held_jobs = 0.0;      // that the GPUs hold at once: GPUs over the mean gang, weighted by run time
  double load = 0.0;  // least share of the GPUs' time that works off what arrives; above 1 no policy can do
                      // it. 0: all jobs come at once
  double batch_s = 0.0;  // where all come at once: their GPU time over the GPUs; else 0
  double round_s = 0.0;  // of the clock; 0 = it has none
  int jobs = 0;          // of a fixed scenario; 0 = a generator
  int batch_jobs = 0;    // of a generator whose jobs come all at once; 0 = they do not
};
// Of what seed 0 draws for sixteen environments, 256 jobs each, whatever the run's seed is; of a fixed source
// of its jobs in `jobs` ({}: all).
WorkloadNumbers NumbersOf(const ScenarioSource& source, Window jobs = {});

double DefaultTau(const WorkloadNumbers& numbers);  // s
int DefaultWarmupJobs(const WorkloadNumbers& numbers);
int DefaultEpisodeJobs(const WorkloadNumbers& numbers);

inline constexpr std::string_view kAutoValue = "auto";
// Puts numbers in the place of "auto" in those of the options named (tau, episode-jobs, warmup-jobs), so that
// the recorded configuration has them. Gives back what was chosen and why, as a line, or "".
std::string ResolveDefaults(Options& options, const WorkloadNumbers& numbers,
                            const std::vector<std::string>& names);

}  // namespace berth
