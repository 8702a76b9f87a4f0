#include "tools/forecast/slurm_usage.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/slurm/settings.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {

std::string WithUsage(const std::string& spec, const StartMoment& moment) {
  Spec with = ParseSpec(spec);
  const std::vector<Tenant>& tenants = moment.data.tenants;
  if (with.name != "slurm" || tenants.empty()) return spec;
  double half_life = DefaultSlurmSettings().half_life;
  for (const auto& [name, value] : with.params) {
    if (name == "usage") return spec;
    if (name == "conf" && !value.empty()) half_life = ReadSlurmSettings(value).half_life;
  }
  std::vector<double> used(tenants.size(), 0.0);
  for (std::size_t j = 0; j < moment.jobs.size(); ++j) {
    const StartMoment::Job& job = moment.jobs[j];
    if (job.gpu_seconds <= 0.0) continue;
    // All of it in the middle of its time.
    const double end = job.phase == StartMoment::Phase::kEnded ? job.since : moment.now;
    const double age = moment.now - end + 0.5 * job.gpu_seconds / moment.data.jobs.gang[j];
    const std::vector<int>& tenant = moment.data.jobs.tenant;
    used[tenant.empty() ? 0 : U(tenant[j])] += job.gpu_seconds * std::exp2(-age / half_life);
  }
  std::string usage;
  for (std::size_t t = 0; t < tenants.size(); ++t)
    usage += Join(t > 0 ? "+" : "", Escaped(tenants[t].name), ":", used[t]);
  with.params.emplace_back("usage", usage);
  return with.ToString();
}

}  // namespace berth
