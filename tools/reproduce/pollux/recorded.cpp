#include "tools/reproduce/pollux/recorded.hpp"

#include <unistd.h>

#include <fstream>
#include <numeric>
#include <set>

#include "data/csv_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tools/file_hash.hpp"
#include "tools/json.hpp"
#include "tools/table.hpp"

namespace berth::pollux {
namespace {

// A line a file, "name hash".
std::string HashesOf(const std::filesystem::path& folder) {
  std::set<std::string> lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    lines.insert(
        Join(entry.path().lexically_relative(folder).string(), " ", FileHash(entry.path().string())));
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

double Run::Mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

Folder::Folder(std::filesystem::path path) : path_(std::move(path)) {
  for (const char* part : {"profiles", "workloads", "golden"}) {
    if (!std::filesystem::is_directory(path_ / part))
      throw Error(Join("folder of the Pollux artifact: expected ", (path_ / part).string(), ", found none"));
  }
  unpacked_ = std::filesystem::temp_directory_path() / Join("berth-pollux-", getpid(), ".csv");
  const std::string lookups = ReadText((path_ / "golden/throughput_lookups.csv.gz").string());
  std::ofstream(unpacked_) << lookups;
  shared_ = HashesOf(path_ / "profiles") + TextHash(lookups);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove(unpacked_, ignored);
}

std::string Folder::WorkloadFile(const std::string& load, int workload) const {
  return (path_ / Join("workloads/load-", load, "/workload-", workload, ".csv")).string();
}

Scenario Folder::Workload(const std::string& load, int workload, const std::string& batch,
                          const std::string& more) const {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("t4=64/4");
  settings.clock = {ClockKind::kRounds, 60.0};
  settings.features = ParseFeatures(Join("goodput(rules=pollux,profiles=", (path_ / "profiles").string(),
                                         ",known=", unpacked_.string(), ",batch=", batch, more, ")"));
  return FindFormat("adaptive").read(WorkloadFile(load, workload), settings);
}

std::string Folder::Hash(const std::string& load, int workload, const std::string& batch) const {
  return TextHash(Join(shared_, "\n", FileHash(WorkloadFile(load, workload)), "\n", batch));
}

std::vector<Run> Folder::Recorded() const {
  std::vector<Run> runs;
  for (const char* file : {"jct_tiresias_optimus.json.gz", "jct_pollux_ga_authors.json.gz"}) {
    const Json json = ReadJson((path_ / "golden" / file).string());
    for (const Json& of : json) {
      Run run{of.at("policy"), Fixed(of.at("load").get<double>(), 1), of.at("workload"), {}, {}};
      static constexpr const char* kName[] = {"name"};
      CsvFile jobs(WorkloadFile(run.load, run.workload), kName);
      while (jobs.Next()) {
        run.seconds.push_back(of.at("jct_s").at(jobs.Text("name")));
        if (of.contains("restarts")) run.restarts.push_back(of.at("restarts").at(jobs.Text("name")));
      }
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace berth::pollux
