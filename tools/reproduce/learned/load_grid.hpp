// Row 1's cluster at its six loads: the runs of a scheduler over loads and held-out workloads, and what they
// say. The experiments cluster, scale, learners and ablations share it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

struct Load {
  double rate;  // jobs/h on 108 GPUs
  bool gangs;
  std::string Name() const;  // "5.6 single/h"
};
inline constexpr Load kLoads[] = {{4.8, false}, {5.6, false}, {6.4, false},
                                  {2.2, true},  {2.6, true},  {3.0, true}};

struct LoadGrid {
  std::vector<Load> loads;
  std::vector<std::uint64_t> seeds;            // of the evaluation stream, which training cannot draw
  int scale = 1;                               // times 36 GPUs of each type, times the rates and jobs
  int drawn = 8000, begin = 3000, end = 4000;  // jobs: drawn, measured; times `scale`
  double keep_jct_at = 0.0;  // rate of the load of single GPUs whose completion times are kept

  PlannedWorkload Workload(const Load& load, std::uint64_t seed) const;
  Scenario Sample() const;  // the first workload
  // Runs `spec` on the first `most` workloads of every load.
  void Plan(ReproductionRuns& runs, const std::string& spec, std::size_t most = SIZE_MAX) const;

  // [loads][seeds] WholeMeanJct.
  Grid MeanJcts(const ReproductionRuns& runs, const std::string& spec) const;
};

// Mean JCT of a run, s; NaN where it was not run, was stopped, failed, or left measured jobs undone: a mean
// over fewer jobs is no contest.
double WholeMeanJct(const ReproductionRuns& runs, const PlannedWorkload& workload, const std::string& spec);

// What a cell of the tables says of one scheduler at one load.
struct LoadResult {
  Interval jct_s;         // NaN mean: none, see why
  std::string why;        // "not run", "> 30 CPU s", "failed: ...", "2.1% undone"
  bool ran_out = false;   // a run outlived its arrivals, so that its end was less crowded
  bool unstable = false;  // KeepsUp (tools/results.hpp) is false
  int workloads = 0;
  double p99_wait_s = 0, max_wait_s = 0;  // mean, largest
  double cpu_s = 0;                       // mean of a run
  std::string Cell() const;               // "23.9", "23.9†*", "> 30 CPU s"
};
LoadResult ResultAt(const LoadGrid& grid, const ReproductionRuns& runs, std::size_t load,
                    const std::string& spec);
// The legend of Cell's marks.
const char* LoadMarks();

// Mean JCT over training seeds and workloads, with the interval of both.
Interval LearnedMean(const std::vector<Grid>& policies, std::size_t load);
std::vector<Grid> Grids(const LoadGrid& grid, const ReproductionRuns& runs,
                        const std::vector<std::string>& specs);
// Those of the loads that the cluster carries under each of the schedulers. What is averaged over these alone
// says so on the page; everything else counts all loads.
std::vector<std::size_t> CarriedLoads(const LoadGrid& grid, const ReproductionRuns& runs,
                                      const std::vector<std::string>& specs, std::vector<std::size_t> loads);
// Over some of the loads; without a value where they are none.
Comparison CompareAt(const std::vector<Grid>& policies, const Grid& other,
                     const std::vector<std::size_t>& loads);

}  // namespace berth
