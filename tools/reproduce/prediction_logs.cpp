#include "tools/reproduce/prediction_logs.hpp"

#include <algorithm>
#include <filesystem>

#include "data/workloads.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

struct Log {
  const char *name, *format, *path, *what;
};
constexpr Log kLogs[] = {
    {"Philly", "philly", "philly/philly_sorted.csv.gz", "virtual cluster, GPUs"},
    {"ITP 02", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster02.csv", "GPUs"},
    {"ITP 03", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster03.csv", "GPUs"},
    {"ITP 07", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster07.csv", "GPUs"},
    {"Theta", "swf", "alcf-theta-mira/theta_canonical.swf.gz", "nodes, requested time"},
    {"Mira", "swf", "alcf-theta-mira/mira_canonical.swf.gz", "nodes, requested time"},
};
constexpr const char* kRoomy = "p100=1000000";  // nothing is scheduled here: any gang fits

}  // namespace

std::vector<PredictionLog> PredictionLogs(const std::string& folder, double train,
                                          std::vector<std::string>& skipped) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kRoomy);
  std::vector<PredictionLog> logs;
  for (const Log& log : kLogs) {
    const std::string path = folder + "/" + log.path;
    const std::string file =
        path.substr(0, path.find(".gz:") == std::string::npos ? path.size() : path.find(".gz:") + 3);
    if (!std::filesystem::exists(file)) {
      skipped.push_back(Join(log.name, ": ", file, " is not there"));
      continue;
    }
    PredictionLog found{log.name, log.what, FindFormat(log.format).read(path, settings), 0.0, 0};
    const std::vector<double>& arrival = found.jobs.data().jobs.arrival;
    found.split_s = arrival.front() + train * (arrival.back() - arrival.front());
    found.first_test =
        static_cast<int>(std::lower_bound(arrival.begin(), arrival.end(), found.split_s) - arrival.begin());
    logs.push_back(std::move(found));
  }
  return logs;
}

}  // namespace berth
