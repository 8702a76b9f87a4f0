#include "data/sequence.hpp"

#include "data/workloads.hpp"
#include "env/base/check.hpp"

namespace berth {

Scenario Sequence(const Scenario& log, int begin, int count, const Clock& clock) {
  if (begin < 0 || count < 1 || begin > log.num_jobs() - count) {
    throw Error(Join(log.data().name, ": expected ", count, " jobs from ", begin, " on, found ",
                     log.num_jobs(), " jobs"));
  }
  ScenarioData data = Slice(log, begin, begin + count).data();
  for (std::size_t i = 0; i < data.jobs.arrival.size(); ++i) {
    data.jobs.arrival[i] = log.data().jobs.arrival[static_cast<std::size_t>(begin) + i];
    if (!data.jobs.deadline.empty())
      data.jobs.deadline[i] = log.data().jobs.deadline[static_cast<std::size_t>(begin) + i];
  }
  data.features = log.data().features.OfJobs(data.jobs, 0.0);  // those of the slice count from its begin
  data.clock = clock;
  return Scenario(std::move(data));
}

Scenario ReadLogged(const std::string& path) {
  ScenarioSettings settings;
  settings.origin_s = 0.0;
  return FindFormat("swf").read(path, settings);
}

}  // namespace berth
