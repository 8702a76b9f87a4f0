// A run to its end, for what Metrics does not say: the simulator as it then stands.
#pragma once

#include "env/sim/metrics.hpp"

namespace berth {

// Until the jobs of `window` are done; what is decided illegally is our bug.
Simulator FinishedRun(const Scenario& scenario, Scheduler& scheduler, Window window);

}  // namespace berth
