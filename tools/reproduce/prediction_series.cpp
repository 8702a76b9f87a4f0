#include "tools/reproduce/prediction_series.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/predict/forecast/forecaster.hpp"

namespace berth {
namespace {

constexpr double kHour = 3600.0;

struct Model {
  const char* spec;
  bool naive;
};
constexpr Model kModels[] = {
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

std::size_t Hours(const Scenario& jobs) {
  const std::vector<double>& arrival = jobs.data().jobs.arrival;
  return static_cast<std::size_t>((arrival.back() - arrival.front()) / kHour) + 1;
}

}  // namespace

std::vector<double> ArrivalsAnHour(const Scenario& jobs) {
  std::vector<double> series(Hours(jobs), 0.0);
  const std::vector<double>& arrival = jobs.data().jobs.arrival;
  for (double time : arrival) series[static_cast<std::size_t>((time - arrival.front()) / kHour)] += 1.0;
  return series;
}

std::vector<double> DemandedGpus(const Scenario& jobs) {
  const JobTable& table = jobs.data().jobs;
  std::vector<double> series(Hours(jobs), 0.0);
  for (std::size_t job = 0; job < table.arrival.size(); ++job) {
    double from = table.arrival[job] - table.arrival.front();
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
  for (const Model& model : kModels) {
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

}  // namespace berth
