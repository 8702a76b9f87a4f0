// The problem of jobs that are all unlike, for rows of solvers.
#pragma once

#include "baselines/gavel/problem.hpp"

namespace berth::bench {

// GPUs from 1 to twice `mean_gpus` of each type; rates log-normal by job, type and pair of both (a tenth of
// the pairs cannot run), gangs of 1 to 8, weights of 1 to 10.
gavel::Problem UnlikeJobs(int jobs, int types, int mean_gpus);

}  // namespace berth::bench
