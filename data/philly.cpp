// Microsoft's Philly job table (2017) in the form that Sia and ElasticFlow publish:
//   job_id, submit_s, duration_s, num_gpus, vc (virtual cluster: a tenant)
// It names no GPU type, model or cluster; --cluster says where the jobs run, at 1 step/s on any type.
#include <algorithm>

#include "data/csv_file.hpp"
#include "data/rigid_trace.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kColumns[] = {"job_id", "submit_s", "duration_s", "num_gpus", "vc"};

Scenario Read(const std::string& path, const ScenarioSettings& settings) {
  if (settings.cluster.types.empty())
    throw Error(Join(path, ": a trace says nothing of its cluster: give --cluster"));
  CsvFile file(path, kColumns);
  std::vector<RigidJob> jobs;
  std::vector<Tenant> tenants;
  while (file.Next()) {
    RigidJob job;
    job.id = file.Integer("job_id");
    job.submit = file.Number("submit_s");
    job.seconds = file.Number("duration_s");
    if (!(job.seconds > 0.0))
      throw Error(Join(file.Where(), ": duration_s: expected > 0, found ", job.seconds));
    job.gang = file.Integer("num_gpus");
    const std::string vc = file.Text("vc");
    auto tenant = std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& t) { return t.name == vc; });
    if (tenant == tenants.end()) tenant = tenants.insert(tenants.end(), Tenant{vc});
    job.tenant = static_cast<int>(tenant - tenants.begin());
    job.line = file.line();
    jobs.push_back(job);
  }
  return RigidScenario(path, settings, settings.cluster, std::move(jobs), std::move(tenants));
}

}  // namespace

FormatInfo PhillyFormatInfo() {
  return {"philly",
          "Microsoft Philly job table: job_id,submit_s,duration_s,num_gpus,vc; plain or gzip",
          "Jeon et al., USENIX ATC 2019; table of Sia, Jayaram Subramanya et al., SOSP 2023",
          {ClockKind::kEvent, 360.0},
          Read};
}

}  // namespace berth
