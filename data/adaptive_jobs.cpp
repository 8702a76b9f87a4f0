// Workloads of the artifacts of Pollux and Sia: name,time,application,num_replicas,batch_size, a job a row.
// Times stay as they are: the artifacts' rounds, and their published figures, count from the same 0.
#include "data/adaptive_jobs.hpp"

#include <algorithm>

#include "data/csv_file.hpp"
#include "data/rigid_trace.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

constexpr const char* kAdaptiveColumns[] = {"name", "time", "application", "num_replicas", "batch_size"};

struct Row {
  double time;
  int job_type, gpus, batch, line;
};

Scenario ReadAdaptiveJobs(const std::string& path, const ScenarioSettings& settings) {
  NeedCluster(path, settings);
  ScenarioData data = BaseScenario(settings, path, path);
  data.features = KnowingJobs(data.features);
  CsvFile file(path, kAdaptiveColumns);
  std::vector<Row> rows;
  std::vector<std::string>& names = data.throughputs.job_types;
  while (file.Next()) {
    const std::string& name = file.Text("application");
    auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) known = names.insert(names.end(), name);
    const Row row{file.Number("time"), static_cast<int>(known - names.begin()), file.Integer("num_replicas"),
                  file.Integer("batch_size"), file.line()};
    if (row.gpus < 1)
      throw Error(Join(file.Where("num_replicas"), ": expected at least 1 GPU, found ", row.gpus));
    if (row.batch < 1)
      throw Error(Join(file.Where("batch_size"), ": expected at least 1, found ", row.batch));
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.time < b.time; });
  std::vector<int>& sizes = data.throughputs.gang_sizes;
  for (const Row& row : rows) sizes.push_back(row.gpus);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  // The feature says what they are.
  data.throughputs.alone.assign(names.size() * sizes.size() * data.cluster.types.size(), 1.0);
  JobTable& jobs = data.jobs;
  for (const Row& row : rows) {
    jobs.id.push_back(jobs.size());
    jobs.arrival.push_back(row.time);
    jobs.job_type.push_back(row.job_type);
    jobs.gang.push_back(row.gpus);
    jobs.batch_size.push_back(row.batch);
    jobs.total_steps.push_back(1.0);
  }
  return Scenario(std::move(data),
                  [&](int job) { return Join(path, ":", rows[static_cast<std::size_t>(job)].line); });
}

}  // namespace

Features KnowingJobs(const Features& features) {
  for (const Features::On& on : features.on()) {
    if (on.settings->KnowsJobs()) return features;
  }
  const std::string text = ToString(features);
  return ParseFeatures(text.empty() ? "goodput" : text + ";goodput");
}

FormatInfo AdaptiveFormatInfo() {
  return {"adaptive",
          "jobs of applications that choose their batch size, as the artifacts of Pollux and Sia have them",
          "Qiao et al., Pollux, OSDI 2021; Jayaram Subramanya et al., Sia, SOSP 2023",
          {ClockKind::kRounds, 60.0},
          ReadAdaptiveJobs};
}

}  // namespace berth
