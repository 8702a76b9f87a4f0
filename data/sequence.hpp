// A run of jobs cut out of a log as the published batch-scheduling experiments cut it.
#pragma once

#include "env/sim/scenario.hpp"

namespace berth {

// Jobs [begin, begin + count) alone on an idle cluster, with their times as in `log` (Slice counts them from
// the first job's arrival): the scores F1 to F4 and the published bugs read absolute times (f1_score in
// RLScheduler's HPCSimPickJobs.py), so that published figures need a log of ReadLogged. Throws Error where
// the log has no such jobs.
Scenario Sequence(const Scenario& log, int begin, int count, const Clock& clock);

// A log in the Standard Workload Format on its header's cluster, its times as they stand there. Throws Error
// as its reader.
Scenario ReadLogged(const std::string& path);

}  // namespace berth
