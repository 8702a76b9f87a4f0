// What the headline reads of the experiments on cost and makespan.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/reproduce/gavel_workloads.hpp"

namespace berth {

// A workload on a cluster, under the mechanism that suits it.
struct CostMix {
  const char* name;
  const char* title;
  const char* cluster;
  double rate;  // jobs/h
  bool strict;  // GPUs are rented: no job runs on a type that it was not given
  Scenario (*make)(const CostMix& mix, std::uint64_t seed);
};
const std::vector<CostMix>&
CostMixes();  // the first is nearest to the paper's, the second has it in a cluster

struct CostPolicy {
  const char* label;
  const char* parameters;
  const char* published;  // saving, of the paper's mix
  std::string Spec(const CostMix& mix) const;
};
inline constexpr CostPolicy kFastest = {"max throughput", "objective=max_sum_throughput", "1"};
inline constexpr CostPolicy kCheapest = {"min cost", "objective=max_throughput_per_cost", "1.4"};
inline constexpr CostPolicy kCheapestInTime = {
    "min cost under SLOs", "objective=max_throughput_per_cost,slo=keep", "1.23 (recalled)"};

// Mean over seeds of the cost under max_sum_throughput over the cost under `policy`; NaN where there is none.
double CostSaving(const GavelSettings& settings, const ReproductionRuns& runs, const CostMix& mix,
                  const CostPolicy& policy);

// The makespan experiment's policies and values, which the headline reads too.
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
