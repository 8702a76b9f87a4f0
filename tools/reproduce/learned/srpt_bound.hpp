// The least mean JCT of given jobs, whatever the scheduler.
#pragma once

#include "env/sim/metrics.hpp"

namespace berth {

// Seconds, of the jobs of `window`: the larger of their mean run time alone, and of the mean under SRPT on
// one machine as fast as all GPUs on which a job spreads at will and nobody else runs (SRPT is optimal there:
// Schrage 1968). Every schedule of the cluster is one of that machine's with the same completions, so no
// scheduler is below it. REQUIRES: one GPU type.
double SrptBound(const Scenario& scenario, Window window);

}  // namespace berth
