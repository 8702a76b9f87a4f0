// What `berth serve --slurm` wrote down (decisions.jsonl; tools/controller/README.md lists its lines), as
// rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/workloads.hpp"

namespace berth {

// A start or stop of a job as it was.
struct RecordedStart {
  double time_s = 0.0;       // from the scenario's origin
  std::int64_t job = 0;      // its id in the scenario
  std::vector<int> devices;  // of the scenario; empty = it stopped
};

// In order of time, without runs on other numbers of GPUs than the job's last one, which is its gang in the
// scenario. Throws Error "file:line: ...".
std::vector<RecordedStart> ReadDecisionStarts(const std::string& path);
// As CSV time_s,job,devices: what the scheduler recorded(file=...) reads.
std::string StartsCsv(const std::vector<RecordedStart>& starts);

// The id of "17", and of "17_3", task 3 of array 17: 1,700,000,003. Slurm's own numbers are below
// 100,000,000. The next job of a log with the same number has 10^15 more. Errors begin with `what`.
std::int64_t NumberOfSlurmId(const std::string& id, const std::string& what);

}  // namespace berth
