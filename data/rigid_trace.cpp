#include "data/rigid_trace.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {

void NeedCluster(const std::string& path, const ScenarioSettings& settings) {
  if (settings.cluster.types.empty())
    throw Error(Join(path, ": a trace says nothing of its cluster: give --cluster"));
}

int TenantNamed(const std::string& name, std::vector<Tenant>& tenants) {
  auto tenant = std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& t) { return t.name == name; });
  if (tenant == tenants.end()) tenant = tenants.insert(tenants.end(), Tenant{name});
  return static_cast<int>(tenant - tenants.begin());
}

Scenario RigidScenario(const std::string& path, const ScenarioSettings& settings, const ClusterSpec& cluster,
                       std::vector<RigidJob> jobs, std::vector<Tenant> tenants, const std::string& note,
                       std::vector<std::string> kinds) {
  if (jobs.empty()) throw Error(Join(path, ": expected a job a line, found no jobs"));
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RigidJob& a, const RigidJob& b) { return a.submit < b.submit; });
  ScenarioData data = BaseScenario(settings, path.substr(path.find_last_of("/:") + 1), path + note);
  data.cluster = cluster;
  data.tenants = std::move(tenants);
  if (kinds.empty()) kinds = {"job"};
  data.throughputs.job_types = std::move(kinds);
  std::set<int> sizes;  // those that occur: a table of all sizes up to the largest would be nearly empty
  bool requests = false, deadlines = false, shares = false, types = false, demands = false;
  for (const RigidJob& job : jobs) {
    if (job.gang < 1)
      throw Error(Join(path, ":", job.line, ": expected at least 1 device, found ", job.gang));
    sizes.insert(job.gang);
    requests = requests || !std::isnan(job.requested);
    deadlines = deadlines || job.deadline != kNever;
    shares = shares || job.gpu_milli != 1000;
    types = types || job.allowed != 0;
    demands = demands || job.cores > 0.0 || job.memory_gb > 0.0;
  }
  data.throughputs.gang_sizes.assign(sizes.begin(), sizes.end());
  data.throughputs.alone.assign(data.throughputs.job_types.size() * sizes.size() * cluster.types.size(), 1.0);
  const std::size_t bits = std::min<std::size_t>(cluster.types.size(), 64);
  const std::uint64_t every_type = ~std::uint64_t{0} >> (64 - bits);
  JobTable& table = data.jobs;
  for (const RigidJob& job : jobs) {
    table.id.push_back(job.id);
    table.arrival.push_back(job.submit);
    table.job_type.push_back(job.kind);
    table.gang.push_back(job.gang);
    table.total_steps.push_back(job.seconds);
    if (requests) table.requested_s.push_back(job.requested);
    if (deadlines) table.deadline.push_back(job.deadline);
    if (!data.tenants.empty()) table.tenant.push_back(job.tenant);
    if (shares) table.gpu_milli.push_back(job.gpu_milli);
    if (types) table.allowed.push_back(job.allowed != 0 ? job.allowed : every_type);
    if (demands) table.demand.insert(table.demand.end(), {job.cores, job.memory_gb});
  }
  Scenario log(std::move(data),
               [&](int job) { return Join(path, ":", jobs[static_cast<std::size_t>(job)].line); });
  return FromOrigin(std::move(log), settings, path);
}

}  // namespace berth
