#include "tools/forecast/slurm_usage.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/slurm/settings.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {

std::string WithUsage(const std::string& spec, const StartMoment& moment) {
  const std::size_t open = spec.find('(');
  const std::vector<Tenant>& tenants = moment.data.tenants;
  if (spec.substr(0, open) != "slurm" || tenants.empty()) return spec;
  std::string inside = open == std::string::npos ? "" : spec.substr(open + 1, spec.rfind(')') - open - 1);
  double half_life = DefaultSlurmSettings().half_life;
  for (const std::string& entry : SplitOutsideParentheses(inside, ',')) {
    if (entry.starts_with("usage=")) return spec;
    if (entry.starts_with("conf=") && entry.size() > 5)
      half_life = ReadSlurmSettings(entry.substr(5)).half_life;
  }
  std::vector<double> used(tenants.size(), 0.0);
  for (std::size_t j = 0; j < moment.jobs.size(); ++j) {
    const StartMoment::Job& job = moment.jobs[j];
    if (job.gpu_seconds <= 0.0) continue;
    // All of it in the middle of its time.
    const double end = job.phase == StartMoment::Phase::kEnded ? job.since : moment.now;
    const double age = moment.now - end + 0.5 * job.gpu_seconds / moment.data.jobs.gang[j];
    used[U(moment.data.jobs.tenant[j])] += job.gpu_seconds * std::exp2(-age / half_life);
  }
  std::string usage;
  for (std::size_t t = 0; t < tenants.size(); ++t)
    usage += Join(t > 0 ? "+" : "", tenants[t].name, ":", used[t]);
  return Join("slurm(", inside, inside.empty() ? "" : ",", "usage=", usage, ")");
}

}  // namespace berth
