// The workloads of the paper's experiments on its cluster of 36 V100, 36 P100 and 36 K80, one GPU a server,
// clock reference_rounds (run_sweep_continuous.py and run_sweep_static.py of its code).
#pragma once

#include <cstdint>

#include "tools/reproduce/gavel_experiments.hpp"

namespace berth {

inline constexpr const char* kPaperCluster = "v100=36,p100=36,k80=36";

// What a job costs under an LP over pairs, at least, against max-min fairness: such runs take `--packed`.
inline constexpr double kPackedCost = 60.0;

enum class Gangs { kSingle, kMulti };

// Poisson arrivals, measured jobs 4000:5000. Later jobs compete until those are done.
PlannedWorkload ContinuousWorkload(double rate, Gangs gangs, bool priorities, std::uint64_t seed);
// All jobs at time 0, all measured; gangs of 1 to 8.
PlannedWorkload StaticWorkload(int jobs, std::uint64_t seed);
// A trace of the reference and the window that was measured there ({0, -1}: all).
PlannedWorkload TraceWorkload(const std::string& folder, const std::string& trace, Window window);

// One figure of an experiment: a value a seed.
struct SeedValues {
  std::vector<double> values;  // of the seeds whose run there is
  bool available = false, failed = false, ran_out = false;
  double mean() const;
  std::string ToString(int decimals) const;  // "23.9 [22.8, 25.0]": mean and range, or why there is none
};
using OutcomeFigure = double PlannedOutcome::*;
SeedValues OverSeeds(const ReproductionRuns& runs, const std::vector<PlannedWorkload>& workloads,
                     const std::string& spec, OutcomeFigure figure, double unit);

}  // namespace berth
