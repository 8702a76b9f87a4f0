// Hand-made scenarios in one expression, for tests whose arithmetic stands in a comment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth::test {

struct TinyJob {
  double arrival;  // s
  double steps;
  int job_type = 0;
  int gang = 1;
};

// `rates[t][g]` steps/s of job type t on GPU type g, the same for every gang size 1, 2, 4.
inline ScenarioData TinyData(const std::vector<std::pair<std::string, int>>& types,
                             const std::vector<std::vector<double>>& rates, const std::vector<TinyJob>& jobs,
                             Clock clock = {}) {
  ScenarioData data;
  data.name = "tiny";
  for (const auto& [name, count] : types) {
    GpuType type;
    type.name = name;
    type.count = count;
    data.cluster.types.push_back(type);
  }
  data.throughputs.gang_sizes = {1, 2, 4};
  for (std::size_t t = 0; t < rates.size(); ++t) {
    data.throughputs.job_types.push_back("job" + std::to_string(t));
    for (std::size_t s = 0; s < 3; ++s) {
      data.throughputs.alone.insert(data.throughputs.alone.end(), rates[t].begin(), rates[t].end());
    }
  }
  for (const TinyJob& job : jobs) {
    data.jobs.id.push_back(static_cast<std::int64_t>(data.jobs.id.size()));
    data.jobs.arrival.push_back(job.arrival);
    data.jobs.job_type.push_back(job.job_type);
    data.jobs.gang.push_back(job.gang);
    data.jobs.total_steps.push_back(job.steps);
  }
  data.clock = clock;
  return data;
}

inline Scenario Tiny(const std::vector<std::pair<std::string, int>>& types,
                     const std::vector<std::vector<double>>& rates, const std::vector<TinyJob>& jobs,
                     Clock clock = {}) {
  return Scenario(TinyData(types, rates, jobs, clock));
}

}  // namespace berth::test
