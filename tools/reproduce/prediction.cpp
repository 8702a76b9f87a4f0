#include "tools/reproduce/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <queue>
#include <sstream>
#include <string_view>

#include "data/text_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/predict/forecast/forecaster.hpp"
#include "env/predict/prediction/size_predictor.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

struct PredictedLog {
  const char *name, *format, *path, *what;
};
constexpr PredictedLog kPredictedLogs[] = {
    {"Philly", "philly", "philly/philly_sorted.csv.gz", "virtual cluster, GPUs"},
    {"ITP 02", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster02.csv", "GPUs"},
    {"ITP 03", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster03.csv", "GPUs"},
    {"ITP 07", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster07.csv", "GPUs"},
    {"Theta", "swf", "alcf-theta-mira/theta_canonical.swf.gz", "nodes, requested time"},
    {"Mira", "swf", "alcf-theta-mira/mira_canonical.swf.gz", "nodes, requested time"},
};
constexpr const char* kRoomy = "p100=1000000";  // nothing is scheduled here: any gang fits

// Field 3 of the Standard Workload Format, which no scenario keeps; -1, not known, is none. The reader of
// `jobs` has checked the lines.
std::vector<double> SwfWaits(const std::string& path, const Scenario& jobs) {
  std::map<std::int64_t, double> by_id;
  TextFile file(path);
  for (std::string line; file.Next(line);) {
    std::istringstream fields(line);
    double id = 0.0, submit = 0.0, wait = 0.0;
    if (fields >> id >> submit >> wait)  // not a comment
      by_id[static_cast<std::int64_t>(id)] = std::max(wait, 0.0);
  }
  std::vector<double> waits;
  for (const std::int64_t id : jobs.data().jobs.id) waits.push_back(by_id.at(id));
  return waits;
}

}  // namespace

std::vector<PredictionLog> PredictionLogs(const std::string& folder, double train,
                                          std::vector<std::string>& skipped) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kRoomy);
  std::vector<PredictionLog> logs;
  for (const PredictedLog& log : kPredictedLogs) {
    const std::string path = folder + "/" + log.path;
    const std::string file =
        path.substr(0, path.find(".gz:") == std::string::npos ? path.size() : path.find(".gz:") + 3);
    if (!std::filesystem::exists(file)) {
      skipped.push_back(Join(log.name, ": ", file, " is not there"));
      continue;
    }
    PredictionLog found{log.name, log.what, FindFormat(log.format).read(path, settings), 0.0, 0, {}};
    const std::vector<double>& arrival = found.jobs.data().jobs.arrival;
    found.split_s = arrival.front() + train * (arrival.back() - arrival.front());
    found.first_test =
        static_cast<int>(std::lower_bound(arrival.begin(), arrival.end(), found.split_s) - arrival.begin());
    if (std::string_view(log.format) == "swf") found.wait_s = SwfWaits(path, found.jobs);
    logs.push_back(std::move(found));
  }
  return logs;
}

namespace {

constexpr double kHour = 3600.0;

struct ForecastModel {
  const char* spec;
  bool naive;
};
constexpr ForecastModel kForecastModels[] = {
    {"last", true},
    {"mean", true},
    {"seasonal_naive", true},
    {"seasonal_naive(season=168)", true},
    {"exponential", false},
    {"holt_winters", false},
    {"holt_winters(season=168)", false},
    {"ar(order=3)", false},
    {"ar(order=24)", false},
    {"ar(order=3,season=168)", false},
};

std::size_t HoursOf(const Scenario& jobs) {
  const std::vector<double>& arrival = jobs.data().jobs.arrival;
  return static_cast<std::size_t>((arrival.back() - arrival.front()) / kHour) + 1;
}

}  // namespace

std::vector<double> ArrivalsAnHour(const PredictionLog& log) {
  std::vector<double> series(HoursOf(log.jobs), 0.0);
  const std::vector<double>& arrival = log.jobs.data().jobs.arrival;
  for (double time : arrival) series[static_cast<std::size_t>((time - arrival.front()) / kHour)] += 1.0;
  return series;
}

std::vector<double> DemandedGpus(const PredictionLog& log) {
  const JobTable& table = log.jobs.data().jobs;
  std::vector<double> series(HoursOf(log.jobs), 0.0);
  for (std::size_t job = 0; job < table.arrival.size(); ++job) {
    double from = log.start(job) - table.arrival.front();
    const double end = from + table.total_steps[job];
    for (auto hour = static_cast<std::size_t>(from / kHour); hour < series.size() && from < end; ++hour) {
      const double to = std::min(end, static_cast<double>(hour + 1) * kHour);
      series[hour] += table.gang[job] * (to - from) / kHour;
      from = to;
    }
  }
  return series;
}

std::vector<ForecastError> ForecastErrors(const std::vector<double>& series, std::size_t split, int ahead) {
  const auto h = static_cast<std::size_t>(ahead);
  BERTH_CHECK(split >= 1 && split + h <= series.size(), split, " + ", ahead, " of ", series.size());
  std::vector<ForecastError> errors;
  for (const ForecastModel& model : kForecastModels) {
    const auto forecaster = MakeForecaster(model.spec);
    forecaster->Fit(std::span(series).first(split));
    double sum = 0.0;
    std::size_t count = 0;
    for (std::size_t t = split; t + h <= series.size(); ++t) {  // everything before hour t is known
      sum += std::abs(std::max(0.0, forecaster->Ahead(ahead)) - series[t + h - 1]);
      ++count;
      forecaster->Add(series[t]);
    }
    errors.push_back({model.spec, model.naive, sum / static_cast<double>(count)});
  }
  return errors;
}

namespace {

struct SizeModel {
  const char* spec;
  bool naive;
  bool reads_requests = false;
  bool blind_to_kind = false;  // all jobs are one kind
};
constexpr SizeModel kSizeModels[] = {
    {"recent(window=1,least=1)", true, false, true},
    {"recent(statistic=mean,window=1000)", true, false, true},
    {"recent(statistic=median,window=1000)", true, false, true},
    {"request(adjust=false)", true, true},
    {"recent(window=1,least=1)", false},
    {"recent(statistic=mean,window=2)", false},
    {"recent(statistic=mean)", false},
    {"recent", false},
    {"recent(statistic=geometric)", false},
    {"recent(statistic=median,window=1000)", false},
    {"residual", false},
    {"request", false, true},
};

JobKind KindOfJob(const Scenario& jobs, std::size_t job, bool blind) {
  if (blind) return {};
  const JobTable& table = jobs.data().jobs;
  JobKind kind{table.job_type[job], table.gang[job], table.tenant.empty() ? 0 : table.tenant[job]};
  if (!table.requested_s.empty()) kind.requested = table.requested_s[job];
  return kind;
}

SizeError ErrorOf(const PredictionLog& log, const SizeModel& model) {
  const JobTable& table = log.jobs.data().jobs;
  const auto predictor = MakeSizePredictor(model.spec);
  using Ending = std::pair<double, std::size_t>;  // s, job
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
  std::vector<double> logs;
  SizeError error{model.spec, model.naive, 0, 0, 0, 0};
  if (model.blind_to_kind) error.predictor += ", of all jobs";
  for (std::size_t job = 0; job < table.arrival.size(); ++job) {
    while (!running.empty() && running.top().first <= table.arrival[job]) {
      const std::size_t ended = running.top().second;
      predictor->Add(KindOfJob(log.jobs, ended, model.blind_to_kind), table.total_steps[ended]);
      running.pop();
    }
    const double truth = table.total_steps[job];
    running.emplace(log.start(job) + truth, job);
    if (job < static_cast<std::size_t>(log.first_test)) continue;
    const double predicted = predictor->Predict(KindOfJob(log.jobs, job, model.blind_to_kind), 0.0);
    logs.push_back(std::abs(std::log(predicted / truth)));
    error.within_two += logs.back() <= std::log(2.0);
    error.mean_absolute += std::abs(predicted - truth);
    error.above += predicted > truth;
  }
  const auto n = static_cast<double>(logs.size());
  error.within_two /= n, error.mean_absolute /= n, error.above /= n;
  std::sort(logs.begin(), logs.end());
  error.median_factor = std::exp(Quantile(logs, 0.5));
  return error;
}

}  // namespace

std::vector<SizeError> SizeErrors(const PredictionLog& log) {
  std::vector<SizeError> errors;
  for (const SizeModel& model : kSizeModels) {
    if (model.reads_requests && log.jobs.data().jobs.requested_s.empty()) continue;
    errors.push_back(ErrorOf(log, model));
  }
  return errors;
}

}  // namespace berth
