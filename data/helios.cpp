// SenseTime's Helios (2020): one cluster_log.csv for each of the clusters Venus, Earth, Saturn and Uranus.
// Schema: README.md of github.com/S-Lab-System-Group/HeliosData; Hu et al., "Characterization and Prediction
// of Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021. Columns, in any order:
//   job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
// Read as the authors' simulator reads it (HeliosArtifact, framework/QSSF Service/utils.py, trace_process):
//   arrival   submit_time;
//   run time  duration (end_time less start_time), whatever became of the job: it held its GPUs;
//   tenant    vc, the virtual cluster.
// Left out and counted in the provenance: jobs without GPU, jobs that ran no second, and those in a state
// other than the five in which jobs end, whose duration is only what they had run by then.
// The log does not name its GPUs: --cluster does. cluster_gpu_number.csv, the GPUs of each virtual cluster by
// day, is not read; its total for 2020-09-01 is 1,064 in Venus and, as the README shows, 1,144 in Earth.
#include <algorithm>
#include <array>
#include <string_view>

#include "data/csv_file.hpp"
#include "data/rigid_trace.hpp"
#include "data/tables/times.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"

namespace berth {
namespace {

constexpr const char* kHeliosColumns[] = {"job_id", "vc", "gpu_num", "state", "submit_time", "duration"};
constexpr std::array<std::string_view, 5> kEnds = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
                                                   "NODE_FAIL"};

double DatedMoment(const CsvFile& file, const char* column) {
  const std::string& text = file.Text(column);
  if (!LooksLikeDate(text)) {
    throw Error(Join(file.Where(), ": ", column, ": expected a time such as 2020-04-01 00:00:03, found '",
                     text, "'"));
  }
  return ParseMoment(text, Join(file.Where(), ": ", column));
}

Scenario ReadHelios(const std::string& path, const ScenarioSettings& settings) {
  NeedCluster(path, settings);
  CsvFile file(path, kHeliosColumns);
  std::vector<RigidJob> jobs;
  std::vector<Tenant> tenants;
  int without_gpu = 0, no_second = 0, not_ended = 0;
  while (file.Next()) {
    RigidJob job;
    job.id = file.Integer("job_id");
    job.gang = file.Integer("gpu_num");
    if (job.gang < 0) throw Error(Join(file.Where(), ": gpu_num: expected at least 0, found ", job.gang));
    job.submit = DatedMoment(file, "submit_time");
    job.seconds = file.Number("duration");
    if (job.seconds < 0.0)
      throw Error(Join(file.Where(), ": duration: expected at least 0, found ", job.seconds));
    job.line = file.line();
    if (job.gang == 0) {
      ++without_gpu;
    } else if (std::find(kEnds.begin(), kEnds.end(), file.Text("state")) == kEnds.end()) {
      ++not_ended;
    } else if (job.seconds == 0.0) {
      ++no_second;
    } else {
      job.tenant = TenantNamed(file.Text("vc"), tenants);
      jobs.push_back(job);
    }
  }
  return RigidScenario(path, settings, settings.cluster, std::move(jobs), std::move(tenants),
                       Join(" (left out: ", Counted(without_gpu, "job"), " without GPU, ", no_second,
                            " that ran no second, ", not_ended, " that had not ended)"));
}

}  // namespace

FormatInfo HeliosFormatInfo() {
  return {
      "helios",
      "SenseTime Helios, a cluster_log.csv: job_id,vc,gpu_num,state,submit_time,duration,...; plain or gzip",
      "Hu et al., SC 2021",
      {ClockKind::kEvent, 360.0},
      ReadHelios};
}

}  // namespace berth
