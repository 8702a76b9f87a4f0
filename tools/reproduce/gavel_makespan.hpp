// The makespan experiment's policies and values, which the headline reads too.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/reproduce/gavel_workloads.hpp"

namespace berth {

inline constexpr std::array<int, 7> kMakespanJobs = {100, 200, 300, 400, 500, 600, 700};

struct MakespanPolicy {
  const char* label;
  const char* spec;
  double cost;                      // against max-min fairness, a job
  std::vector<double> published_h;  // [kMakespanJobs] or empty
};
const std::vector<MakespanPolicy>& MakespanPolicies();

SeedValues MakespanHours(const GavelSettings& settings, const ReproductionRuns& runs, const std::string& spec,
                         int jobs);

}  // namespace berth
