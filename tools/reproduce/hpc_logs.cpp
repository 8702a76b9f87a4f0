#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/reproduce/hpc.hpp"
#include "tools/results.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// Stated figures: worked out from the published files without Berth.
struct HpcLog {
  const char* name;
  const char* format;
  const char* file;
  int jobs;  // stated
  const char*
      demand;  // stated mean of concurrently demanded devices, or their share of the cluster; "" = neither
};
constexpr const char* kItp = "microsoft-itp-elasticflow/raw-traces.tar.gz";
constexpr HpcLog kHpcLogs[] = {
    {"philly", "philly", "philly/philly_sorted.csv.gz", 82247, ""},
    {"itp 01", "itp", ":cluster01.csv", 1595, "28"},
    {"itp 02", "itp", ":cluster02.csv", 5778, "86"},
    {"itp 03", "itp", ":cluster03.csv", 3011, "140"},
    {"itp 04", "itp", ":cluster04.csv", 15802, "495"},
    {"itp 05", "itp", ":cluster05.csv", 3629, "10"},
    {"itp 06", "itp", ":cluster06.csv", 2396, "87"},
    {"itp 07", "itp", ":cluster07.csv", 12699, "257"},
    {"itp 08", "itp", ":cluster08.csv", 13047, ""},
    {"itp 09", "itp", ":cluster09.csv", 11134, "31"},
    {"itp 10", "itp", ":cluster10.csv", 260, "5"},
    {"theta", "swf", "alcf-theta-mira/theta_canonical.swf.gz", 23387, "0.68"},
    {"mira", "swf", "alcf-theta-mira/mira_canonical.swf.gz", 22508, "0.86"},
};
constexpr const char* kPreemptible[] = {"fcfs", "easy", "srpt"};
constexpr const char* kBatch[] = {"fcfs", "easy", "conservative",
                                  "wfp3(backfill=easy)"};  // with users' requests
constexpr double kLoad = 0.8;

struct Facts {
  double days = 0, gpu_hours = 0, demand = 0;  // demand: GPU-seconds over the span of arrivals
  int largest = 0;
  double singles = 0;              // share of jobs
  double median_s = 0, max_s = 0;  // run time
};

Facts FactsOf(const JobTable& jobs) {
  Facts facts;
  std::vector<double> seconds = jobs.total_steps;  // at 1 step/s
  for (std::size_t j = 0; j < jobs.arrival.size(); ++j) {
    facts.gpu_hours += seconds[j] * jobs.gang[j] / 3600.0;
    facts.largest = std::max(facts.largest, jobs.gang[j]);
    facts.singles += jobs.gang[j] == 1 ? 1.0 / jobs.size() : 0.0;
  }
  std::sort(seconds.begin(), seconds.end());
  facts.median_s = Quantile(seconds, 0.5);
  facts.max_s = seconds.back();
  const double span = jobs.arrival.back() - jobs.arrival.front();
  facts.days = span / 86400.0;
  facts.demand = facts.gpu_hours * 3600.0 / span;
  return facts;
}

ScenarioSettings On(int gpus) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(Join("p100=", gpus));  // the logs name no type; all run at 1 step/s
  return settings;
}

}  // namespace

HpcLogs RunHpcLogs(const std::string& traces) {
  HpcLogs result;
  Table facts_table({"log", "jobs", "stated", "days", "device-hours", "demanded", "of cluster", "stated",
                     "largest gang", "gang 1 %", "median run s", "longest d", "devices", "read s"});
  Table runs_table({"log", "scheduler", "knowledge", "mean JCT h", "p50 h", "p99 h", "p99 wait h",
                    "max wait h", "slowdown", "util %", "stops/job", "s"});
  double total_jobs = 0, total_hours = 0;
  for (const HpcLog& log : kHpcLogs) {
    const std::string path = Join(traces, "/", log.file[0] == ':' ? kItp : "", log.file);
    if (!std::filesystem::exists(path.substr(0, path.find(':')))) {
      result.skipped.push_back(Join(log.name, ": ", path, " is not there"));
      continue;
    }
    const FormatInfo& format = FindFormat(log.format);
    const auto begin = std::chrono::steady_clock::now();
    const bool batch = std::string(log.format) == "swf";  // its header has the cluster
    const Scenario first = format.read(path, batch ? ScenarioSettings{} : On(100000));
    const double read_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const Facts facts = FactsOf(first.data().jobs);
    const int gpus =
        batch ? first.num_gpus()
              : std::max(facts.largest, static_cast<int>(std::ceil(facts.demand / kLoad / 8.0)) * 8);
    ScenarioData data = first.data();
    if (!batch) data.cluster = On(gpus).cluster;
    const Scenario scenario(std::move(data));
    const std::string load = Fixed(facts.demand / gpus, 2), demand = Fixed(facts.demand, 0);
    const bool held =
        scenario.num_jobs() == log.jobs && (*log.demand == '\0' || log.demand == (batch ? load : demand));
    result.differ += !held;
    if (log.file[0] == ':') total_jobs += scenario.num_jobs(), total_hours += facts.gpu_hours;
    facts_table.AddRow(
        {held ? log.name : Join("*", log.name), std::to_string(scenario.num_jobs()), std::to_string(log.jobs),
         Fixed(facts.days, 1), Fixed(facts.gpu_hours, 0), Fixed(facts.demand, 0), load,
         *log.demand == '\0' ? "-" : log.demand, std::to_string(facts.largest), Fixed(100 * facts.singles, 1),
         Fixed(facts.median_s, 0), Fixed(facts.max_s / 86400, 1), std::to_string(gpus), Fixed(read_s, 2)});
    Json json = ScenarioJson(scenario);
    json["stated_jobs"] = log.jobs;
    json["gpus_demanded"] = facts.demand;
    json["held"] = held;
    json["schedulers"] = Json::array();
    for (const std::string spec : batch ? std::span<const char* const>(kBatch) : kPreemptible) {
      const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
      ResultRow row{spec, UsedKnowledge(*scheduler, scenario.data()), {}};
      row.runs.push_back(Run(scenario, *scheduler, spec, {}));
      const Metrics& m = row.runs[0].metrics;
      runs_table.AddRow({log.name, spec, ToString(row.knowledge), Hours(m.mean_jct_s), Hours(m.p50_jct_s),
                         Hours(m.p99_jct_s), Hours(m.p99_wait_s), Hours(m.max_wait_s),
                         Fixed(m.mean_slowdown, 2), Fixed(100 * m.utilization, 1),
                         Fixed(m.preemptions_per_job, 2), Fixed(row.runs[0].wall_s, 2)});
      json["schedulers"].push_back(RowJson(row));
    }
    result.json.push_back(std::move(json));
  }
  if (result.json.empty()) return result;
  result.text = facts_table.ToString();
  if (total_jobs > 0) {
    result.text += Join("itp in all: ", total_jobs, " jobs (stated 69351), ", Fixed(total_hours / 1e6, 2),
                        " million GPU-hours (stated 1.63)\n");
    result.differ += total_jobs != 69351 || Fixed(total_hours / 1e6, 2) != "1.63";
  }
  result.text +=
      Join("cluster: the header's (theta, mira), otherwise one type with as many GPUs as make the demand ",
           Fixed(100 * kLoad, 0),
           "% of it, at least the largest gang; clock event; times from the first arrival\n\n",
           runs_table.ToString());
  return result;
}

}  // namespace berth
