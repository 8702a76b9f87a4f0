#include "tools/reproduce/sia/recorded.hpp"

#include <algorithm>

#include "data/csv_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tools/json.hpp"

namespace berth::sia {

Folder::Folder(std::filesystem::path path, std::filesystem::path curves)
    : path_(std::move(path)), curves_(std::move(curves)) {
  for (const std::filesystem::path& part :
       {path_ / "profiles", path_ / "workloads", path_ / "golden", curves_}) {
    if (!std::filesystem::is_directory(part))
      throw Error(Join("folder of the Sia artifact: expected ", part.string(), ", found none"));
  }
}

std::string Folder::WorkloadFile(const std::string& trace, int workload) const {
  return (path_ / Join("workloads/", trace, "/workload-", workload, ".csv")).string();
}

Scenario Folder::Workload(const std::string& trace, int workload, double round_s,
                          const std::string& batch) const {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("t4=24/4,a100_40gb=16/8,rtx2080ti=24/8");
  settings.clock = {ClockKind::kRounds, round_s};
  settings.features = ParseFeatures(Join("goodput(rules=sia,profiles=", (path_ / "profiles").string(),
                                         ",curves=", curves_.string(), ",batch=", batch, ")"));
  return FindFormat("adaptive").read(WorkloadFile(trace, workload), settings);
}

std::vector<std::string> Folder::Names() const {
  static constexpr const char* kName[] = {"name"};
  CsvFile jobs(WorkloadFile("helios-saturn", 1), kName);
  std::vector<std::string> names;
  while (jobs.Next()) names.push_back(jobs.Text("name"));
  return names;
}

RecordedRun Folder::Recorded(const std::string& policy) const {
  const Json all = ReadJson((path_ / "golden/jct_w1.json.gz").string());
  RecordedRun run;
  for (const std::string& name : Names()) {
    run.seconds.push_back(all.at(policy).at("jct_s").at(name));
    run.restarts.push_back(all.at(policy).at("restarts").at(name));
  }
  return run;
}

std::vector<RecordedProgram> Folder::Programs() const {
  std::vector<RecordedProgram> programs;
  for (const Json& of : ReadJson((path_ / "ilp/ilp_public.json.gz").string())) {
    RecordedProgram recorded{of.at("id"), {}, of.at("objective_highs")};
    Program& program = recorded.program;
    program.capacity = of.at("capacity").get<std::vector<int>>();
    const auto types = of.at("gpu_types").get<std::vector<std::string>>();
    for (const Json& its : of.at("configs")) {
      const auto type = std::find(types.begin(), types.end(), its[0].get<std::string>()) - types.begin();
      program.configurations.push_back({static_cast<int>(type), its[1], its[2]});
    }
    program.unallocated = of.at("lambda_n");
    for (const Json& row : of.at("cost")) {
      ++program.jobs;
      for (const Json& cost : row) program.cost.push_back(cost);
    }
    if (of.contains("previous")) program.previous = of["previous"].get<std::vector<int>>();
    program.forced.assign(static_cast<std::size_t>(program.jobs), -1);
    for (const Json& its : of.at("forced")) program.forced[its[0].get<std::size_t>()] = its[1];
    programs.push_back(std::move(recorded));
  }
  return programs;
}

}  // namespace berth::sia
