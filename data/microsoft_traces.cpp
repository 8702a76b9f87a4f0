// Microsoft's public tables of GPU jobs, Philly and ITP. They name no GPU type; --cluster says where the jobs
// run, at 1 step/s on any type.
#include "data/csv_file.hpp"
#include "data/rigid_trace.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

double PositiveSeconds(CsvFile& file, const char* column) {
  const double seconds = file.Number(column);
  if (!(seconds > 0.0)) throw Error(Join(file.Where(), ": ", column, ": expected > 0, found ", seconds));
  return seconds;
}

// Microsoft's Philly job table (2017) in the form that Sia and ElasticFlow publish:
//   job_id, submit_s, duration_s, num_gpus, vc (virtual cluster: a tenant)
// It names no GPU type, model or cluster.
constexpr const char* kPhillyColumns[] = {"job_id", "submit_s", "duration_s", "num_gpus", "vc"};

Scenario ReadPhilly(const std::string& path, const ScenarioSettings& settings) {
  NeedCluster(path, settings);
  CsvFile file(path, kPhillyColumns);
  std::vector<RigidJob> jobs;
  std::vector<Tenant> tenants;
  while (file.Next()) {
    RigidJob job;
    job.id = file.Integer("job_id");
    job.submit = file.Number("submit_s");
    job.seconds = PositiveSeconds(file, "duration_s");
    job.gang = file.Integer("num_gpus");
    job.tenant = TenantNamed(file.Text("vc"), tenants);
    job.line = file.line();
    jobs.push_back(job);
  }
  return RigidScenario(path, settings, settings.cluster, std::move(jobs), std::move(tenants));
}

// Microsoft's ITP clusters (2021), one file a cluster, as published with ElasticFlow: job_id (a UUID),
// submission_time, duration, num_gpu, and in its second set deadline (s, absolute); other columns are passed
// over. Jobs are numbered by their line from 0. A file inside the published archive is read as
// "raw-traces.tar.gz:cluster03.csv".
constexpr const char* kItpColumns[] = {"job_id", "submission_time", "duration", "num_gpu"};

Scenario ReadItp(const std::string& path, const ScenarioSettings& settings) {
  NeedCluster(path, settings);
  CsvFile file(path, kItpColumns);
  const bool deadlines = file.Has("deadline");
  std::vector<RigidJob> jobs;
  while (file.Next()) {
    RigidJob job;
    job.id = static_cast<std::int64_t>(jobs.size());
    job.submit = file.Number("submission_time");
    job.seconds = PositiveSeconds(file, "duration");
    job.gang = file.Integer("num_gpu");
    if (deadlines) job.deadline = file.Number("deadline");
    job.line = file.line();
    jobs.push_back(job);
  }
  return RigidScenario(path, settings, settings.cluster, std::move(jobs));
}

}  // namespace

FormatInfo PhillyFormatInfo() {
  return {"philly",
          "Microsoft Philly job table: job_id,submit_s,duration_s,num_gpus,vc; plain or gzip",
          "Jeon et al., USENIX ATC 2019; table of Sia, Jayaram Subramanya et al., SOSP 2023",
          {ClockKind::kEvent, 360.0},
          ReadPhilly};
}

FormatInfo ItpFormatInfo() {
  return {"itp",
          "Microsoft ITP cluster: job_id,submission_time,duration,num_gpu[,deadline]; plain, gzip or "
          "ARCHIVE.tar.gz:FILE",
          "Gu et al. (ElasticFlow), ASPLOS 2023",
          {ClockKind::kEvent, 360.0},
          ReadItp};
}

}  // namespace berth
