// The reference's trace format (gavel/SPEC.md §11): ten tab-separated columns, no header.
//   job_type, command, working_directory, num_steps_arg, needs_data_dir, total_steps, scale_factor,
//   priority_weight, SLO (-1 = none), arrival_time (s)
#include <cmath>
#include <fstream>
#include <string_view>
#include <vector>

#include "data/throughputs.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

constexpr std::size_t kColumns = 10;

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

void ReadLine(const std::string& line, const std::string& where, const ThroughputTable& v100,
              ScenarioData& data) {
  const std::vector<std::string> fields = SplitTabs(line);
  if (fields.size() != kColumns) {
    throw Error(Join(where, ": expected ", kColumns, " tab-separated columns, found ", fields.size()));
  }
  JobTable& jobs = data.jobs;
  const int job_type = JobTypeIndex(data.throughputs, fields[0], where);
  const long long steps = ParseInteger(fields[5], where + ": total_steps");
  const long long gang = ParseInteger(fields[6], where + ": scale_factor");
  const double weight = ParseNumber(fields[7], where + ": priority_weight");
  const double slo = ParseNumber(fields[8], where + ": SLO");
  const double arrival = ParseNumber(fields[9], where + ": arrival_time");
  if (steps < 1) throw Error(Join(where, ": total_steps: expected at least 1, found ", steps));
  if (!(slo > 0.0) && slo != -1.0) {
    throw Error(Join(where, ": SLO: expected a factor above 0 or -1 for none, found ", slo));
  }
  if (gang != 1 && gang != 2 && gang != 4 && gang != 8) {
    throw Error(Join(where, ": scale_factor: expected 1, 2, 4 or 8 GPUs, found ", gang));
  }
  jobs.id.push_back(jobs.size());
  jobs.arrival.push_back(arrival);
  jobs.job_type.push_back(job_type);
  jobs.gang.push_back(static_cast<int>(gang));
  jobs.total_steps.push_back(static_cast<double>(steps));
  jobs.weight.push_back(weight);
  // The deadline counts from the arrival, in run times alone on V100s.
  const double rate = AloneRate(v100, job_type, static_cast<int>(gang), 0, 1);
  jobs.deadline.push_back(slo > 0.0 && rate > 0.0 ? arrival + slo * static_cast<double>(steps) / rate
                                                  : kNever);
}

Scenario Read(const std::string& path, const ScenarioSettings& settings) {
  std::ifstream file(path);
  if (!file) throw Error(Join(path, ": cannot be opened for reading"));
  if (settings.cluster.types.empty())
    throw Error(Join(path, ": a trace says nothing of its cluster: give --cluster"));
  ScenarioData data = BaseScenario(settings, path.substr(path.find_last_of('/') + 1), path);
  data.throughputs = PublishedThroughputs(settings.cluster);
  ClusterSpec v100;
  v100.types.resize(1);
  v100.types[0].name = "v100";
  const ThroughputTable v100_rates = PublishedThroughputs(v100);

  std::vector<int> lines;  // of each job
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    ReadLine(line, Join(path, ":", number), v100_rates, data);
    lines.push_back(number);
  }
  if (file.bad()) throw Error(Join(path, ": cannot be read to its end"));
  if (lines.empty()) throw Error(Join(path, ": expected a job a line, found no lines"));
  return Scenario(std::move(data),
                  [&](int job) { return Join(path, ":", lines[static_cast<std::size_t>(job)]); });
}

}  // namespace

FormatInfo GavelFormatInfo() {
  return {"gavel",
          "the reference's traces: ten tab-separated columns, arrivals in seconds",
          "Narayanan et al., OSDI 2020",
          {ClockKind::kReferenceRounds, 360.0},
          Read};
}

}  // namespace berth
