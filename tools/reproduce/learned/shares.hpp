// Which jobs a scheduler gives which GPUs: the jobs in thirds by how much they gain from the faster types and
// by how long they run, and the GPU-hours of each third on each type.
#pragma once

#include <array>
#include <vector>

#include "env/sim/scenario.hpp"
#include "tools/report/run_record.hpp"

namespace berth {

inline constexpr std::size_t kJobClasses = 3;

struct JobClasses {
  // [J] third, 0 the least, and rank in [0, 1] of all jobs; ties by job number.
  std::vector<int> advantage, size;
  std::vector<double> advantage_rank, size_rank;
};
// Advantage: rate on the fastest type over that on the slowest which can run the job. Size: run time alone on
// the fastest type.
JobClasses ClassifyJobs(const Scenario& scenario);

// [G][third] busy GPU-hours up to the end of the record.
using GpuHours = std::vector<std::array<double, kJobClasses>>;
GpuHours HoursByClass(const RunRecord& record, const Scenario& scenario, const std::vector<int>& third);

}  // namespace berth
