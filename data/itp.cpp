// Microsoft's ITP clusters (2021), one file a cluster, as published with ElasticFlow: job_id (a UUID),
// submission_time, duration, num_gpu, and in its second set deadline (s, absolute); other columns are passed
// over. Jobs are numbered by their line from 0. No GPU type is named; --cluster says where the jobs run, at 1
// step/s on any type. A file inside the published archive is read as "raw-traces.tar.gz:cluster03.csv".
#include "data/csv_file.hpp"
#include "data/rigid_trace.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kColumns[] = {"job_id", "submission_time", "duration", "num_gpu"};

Scenario Read(const std::string& path, const ScenarioSettings& settings) {
  if (settings.cluster.types.empty())
    throw Error(Join(path, ": a trace says nothing of its cluster: give --cluster"));
  CsvFile file(path, kColumns);
  const bool deadlines = file.Has("deadline");
  std::vector<RigidJob> jobs;
  while (file.Next()) {
    RigidJob job;
    job.id = static_cast<std::int64_t>(jobs.size());
    job.submit = file.Number("submission_time");
    job.seconds = file.Number("duration");
    if (!(job.seconds > 0.0))
      throw Error(Join(file.Where(), ": duration: expected > 0, found ", job.seconds));
    job.gang = file.Integer("num_gpu");
    if (deadlines) job.deadline = file.Number("deadline");
    job.line = file.line();
    jobs.push_back(job);
  }
  return RigidScenario(path, settings, settings.cluster, std::move(jobs));
}

}  // namespace

FormatInfo ItpFormatInfo() {
  return {"itp",
          "Microsoft ITP cluster: job_id,submission_time,duration,num_gpu[,deadline]; plain, gzip or "
          "ARCHIVE.tar.gz:FILE",
          "Gu et al. (ElasticFlow), ASPLOS 2023",
          {ClockKind::kEvent, 360.0},
          Read};
}

}  // namespace berth
