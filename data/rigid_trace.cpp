#include "data/rigid_trace.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {

Scenario RigidScenario(const std::string& path, const ScenarioSettings& settings, const ClusterSpec& cluster,
                       std::vector<RigidJob> jobs, std::vector<Tenant> tenants) {
  if (jobs.empty()) throw Error(Join(path, ": expected a job a line, found no jobs"));
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RigidJob& a, const RigidJob& b) { return a.submit < b.submit; });
  ScenarioData data = BaseScenario(settings, path.substr(path.find_last_of("/:") + 1), path);
  data.cluster = cluster;
  data.tenants = std::move(tenants);
  data.throughputs.job_types = {"job"};
  std::set<int> sizes;  // those that occur: a table of all sizes up to the largest would be nearly empty
  bool requests = false, deadlines = false;
  for (const RigidJob& job : jobs) {
    if (job.gang < 1)
      throw Error(Join(path, ":", job.line, ": expected at least 1 device, found ", job.gang));
    sizes.insert(job.gang);
    requests = requests || !std::isnan(job.requested);
    deadlines = deadlines || job.deadline != kNever;
  }
  data.throughputs.gang_sizes.assign(sizes.begin(), sizes.end());
  data.throughputs.alone.assign(sizes.size() * cluster.types.size(), 1.0);
  JobTable& table = data.jobs;
  for (const RigidJob& job : jobs) {
    table.id.push_back(job.id);
    table.arrival.push_back(job.submit);
    table.job_type.push_back(0);
    table.gang.push_back(job.gang);
    table.total_steps.push_back(job.seconds);
    if (requests) table.requested_s.push_back(job.requested);
    if (deadlines) table.deadline.push_back(job.deadline);
    if (!data.tenants.empty()) table.tenant.push_back(job.tenant);
  }
  return Scenario(std::move(data),
                  [&](int job) { return Join(path, ":", jobs[static_cast<std::size_t>(job)].line); });
}

}  // namespace berth
