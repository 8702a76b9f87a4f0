// berth reproduce prediction: forecasts of arrivals and load, and predictions of run times, on public logs
// split by time, beside the naive ones that they should beat.
#include <algorithm>
#include <iostream>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/prediction.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kPredictionPage = "prediction.md";
constexpr double kTrain = 0.6;  // of the time

using Cells = ReproductionPage::Cells;

std::string Percent(double share) {
  return Fixed(100.0 * share, 0) + "%";
}

// A row a model, a column a log: its error, in bold the least of each log, and how the best model compares
// with the best naive one.
class ErrorTable {
 public:
  void Add(const std::string& log, const std::string& model, bool naive, double error) {
    const auto column = Index(logs_, log), row = Index(models_, model);
    naive_.resize(models_.size());
    naive_[row] = naive;
    errors_.resize(models_.size());
    for (std::vector<double>& cells : errors_) cells.resize(logs_.size(), -1.0);
    errors_[row][column] = error;
  }
  void Write(ReproductionPage& page, int decimals) const {
    Cells header = {"model"};
    header.insert(header.end(), logs_.begin(), logs_.end());
    std::vector<Cells> rows;
    Cells last = {"best of these / best naive"};
    for (std::size_t m = 0; m < models_.size(); ++m) {
      Cells cells = {Join("`", models_[m], "`", naive_[m] ? " (naive)" : "")};
      for (std::size_t l = 0; l < logs_.size(); ++l) {
        const std::string text = errors_[m][l] < 0.0 ? "-" : Fixed(errors_[m][l], decimals);
        cells.push_back(errors_[m][l] == Least(l, true, true) ? "**" + text + "**" : text);
      }
      rows.push_back(cells);
    }
    for (std::size_t l = 0; l < logs_.size(); ++l)
      last.push_back(Fixed(Least(l, false, true) / Least(l, true, false), 2));
    rows.push_back(last);
    page.Rows(header, rows);
  }

 private:
  static std::size_t Index(std::vector<std::string>& names, const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    names.push_back(name);
    return names.size() - 1;
  }
  double Least(std::size_t log, bool of_naive, bool of_models) const {
    double least = kNever;
    for (std::size_t m = 0; m < models_.size(); ++m) {
      if (errors_[m][log] >= 0.0 && (naive_[m] ? of_naive : of_models))
        least = std::min(least, errors_[m][log]);
    }
    return least;
  }
  std::vector<std::string> logs_, models_;
  std::vector<char> naive_;
  std::vector<std::vector<double>> errors_;  // [models][logs], -1 = none
};

struct Series {
  const char *name, *heading;
  std::vector<double> (*make)(const PredictionLog&);
};
constexpr Series kSeries[] = {
    {"arrivals", "Jobs that arrive in an hour", ArrivalsAnHour},
    {"demand", "GPUs asked for, or in use where starts are known, mean over an hour", DemandedGpus}};

void ReportSeries(const std::vector<PredictionLog>& logs, ReproductionPage& page, Json& json) {
  std::vector<Cells> csv;
  for (const Series& series : kSeries) {
    for (int ahead : {1, 24}) {
      ErrorTable table;
      for (const PredictionLog& log : logs) {
        const std::vector<double> values = series.make(log);
        const auto split =
            static_cast<std::size_t>((log.split_s - log.jobs.data().jobs.arrival.front()) / 3600.0);
        for (const ForecastError& error : ForecastErrors(values, split, ahead)) {
          table.Add(log.name, error.forecaster, error.naive, error.mean_absolute);
          csv.push_back({series.name, log.name, Join(ahead), error.forecaster, error.naive ? "1" : "0",
                         Exact(error.mean_absolute)});
          json["forecasts"].push_back({{"series", series.name},
                                       {"log", log.name},
                                       {"hours_ahead", ahead},
                                       {"forecaster", error.forecaster},
                                       {"naive", error.naive},
                                       {"mean_absolute_error", error.mean_absolute}});
        }
      }
      page.Heading(Join(series.heading, ", ", Counted(ahead, "hour"), " ahead"));
      page.Paragraph("Mean absolute error over the later part's hours.");
      table.Write(page, 2);
    }
  }
  page.Csv("forecast_errors.csv", {"series", "log", "ahead_h", "model", "naive", "mae"}, std::move(csv));
}

void ReportSizes(const std::vector<PredictionLog>& logs, ReproductionPage& page, Json& json) {
  ErrorTable factor, hours;
  std::vector<Cells> csv, shares;
  for (const PredictionLog& log : logs) {
    for (const SizeError& error : SizeErrors(log)) {
      factor.Add(log.name, error.predictor, error.naive, error.median_factor);
      hours.Add(log.name, error.predictor, error.naive, error.mean_absolute / 3600.0);
      csv.push_back({log.name, error.predictor, error.naive ? "1" : "0", Exact(error.median_factor),
                     Exact(error.within_two), Exact(error.mean_absolute), Exact(error.above)});
      shares.push_back(
          {log.name, "`" + error.predictor + "`", Percent(error.within_two), Percent(error.above)});
      json["run_times"].push_back({{"log", log.name},
                                   {"predictor", error.predictor},
                                   {"naive", error.naive},
                                   {"median_factor", error.median_factor},
                                   {"within_factor_2", error.within_two},
                                   {"mean_absolute_error_s", error.mean_absolute},
                                   {"too_long", error.above}});
    }
  }
  page.Heading("Run times: the factor that half of the predictions are within");
  factor.Write(page, 2);
  page.Heading("Run times: mean absolute error, hours");
  hours.Write(page, 2);
  page.Heading("Run times: within a factor of two, and too long");
  page.Rows({"log", "predictor", "within a factor of 2", "too long"}, shares);
  page.Csv("run_time_errors.csv",
           {"log", "model", "naive", "median_factor", "within_two", "mae_s", "too_long"}, std::move(csv));
}

void ReportLogs(const std::vector<PredictionLog>& logs, ReproductionPage& page) {
  std::vector<Cells> rows;
  for (const PredictionLog& log : logs) {
    const JobTable& jobs = log.jobs.data().jobs;
    rows.push_back({log.name, log.what, log.wait_s.empty() ? "at once" : "recorded", Join(log.first_test),
                    Join(jobs.size() - log.first_test),
                    Fixed((jobs.arrival.back() - jobs.arrival.front()) / 86400.0, 0)});
  }
  page.Rows({"log", "known of a job", "starts", "jobs, earlier part", "jobs, later part", "days"}, rows);
}

}  // namespace

int ReproducePrediction(const std::vector<std::string>& arguments) {
  Options options("reproduce prediction", "[--traces DIR] [--out DIR]",
                  "forecasts of arrivals and load, predicted run times: errors on public logs");
  options.Value("traces", "", "folder of the public logs, not shipped [one beside the sources, if there]");
  options.Switch("no-pictures", "only the page and the .csv files");
  options.Value("out", "", "folder for the page prediction.md, its .csv and .png files");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const std::string& out = options.Text("out");
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce");
  const std::string folder = options.Given("traces") ? options.Text("traces") : HomeFile("../shared/traces");
  std::vector<std::string> skipped;
  const std::vector<PredictionLog> logs = PredictionLogs(folder, kTrain, skipped);
  if (logs.empty()) {
    throw Error(Join(options.Where("traces"),
                     ": expected a folder that holds philly, microsoft-itp-elasticflow or alcf-theta-mira, "
                     "found '",
                     folder, "'"));
  }
  for (const std::string& line : skipped) std::cout << "skipped: " << line << "\n";
  Json json = {{"config", ConfigJson(options)}, {"skipped", skipped}};
  ReproductionPage page;
  page.Paragraph("# Predictions on public logs");
  page.Paragraph(Join(
      "Made by `", MadeBy(options, {"traces"}), "` from source ", SourceCommit(), ". Each log is split at ",
      Percent(kTrain),
      " of its time: parameters are fitted on the earlier part alone, errors are of the later one, where "
      "every "
      "prediction uses what was known at its moment, as far as the log says it. Those that say when jobs "
      "were "
      "submitted and how long they ran, but not when they started (\"starts\" in the table), are read as if "
      "each "
      "had started at once: there a run time may be known before its job had ended. In bold the least error "
      "of a column; below 1 in the last row, the models beat the best naive one."));
  ReportLogs(logs, page);
  ReportSeries(logs, page, json);
  ReportSizes(logs, page, json);
  page.Picture("prediction.png", "errors over those of the best naive prediction");
  WriteJson(options, json);
  if (out.empty()) {
    std::cout << page.text();
    return 0;
  }
  page.Write(out, kPredictionPage);
  DrawPictures(options, "reproduce/plot_reproduction.py", out);
  std::cout << out << "/" << kPredictionPage << "\n";
  return 0;
}

}  // namespace berth
