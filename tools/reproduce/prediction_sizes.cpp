#include "tools/reproduce/prediction_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "env/predict/prediction/size_predictor.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

struct Model {
  const char* spec;
  bool naive;
  bool reads_requests = false;
  bool blind_to_kind = false;  // all jobs are one kind
};
constexpr Model kModels[] = {
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

JobKind KindOf(const Scenario& jobs, std::size_t job, bool blind) {
  if (blind) return {};
  const JobTable& table = jobs.data().jobs;
  JobKind kind{table.job_type[job], table.gang[job], table.tenant.empty() ? 0 : table.tenant[job]};
  if (!table.requested_s.empty()) kind.requested = table.requested_s[job];
  return kind;
}

SizeError ErrorOf(const PredictionLog& log, const Model& model) {
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
      predictor->Add(KindOf(log.jobs, ended, model.blind_to_kind), table.total_steps[ended]);
      running.pop();
    }
    const double truth = table.total_steps[job];
    running.emplace(table.arrival[job] + truth, job);
    if (job < static_cast<std::size_t>(log.first_test)) continue;
    const double predicted = predictor->Predict(KindOf(log.jobs, job, model.blind_to_kind), 0.0);
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
  for (const Model& model : kModels) {
    if (model.reads_requests && log.jobs.data().jobs.requested_s.empty()) continue;
    errors.push_back(ErrorOf(log, model));
  }
  return errors;
}

}  // namespace berth
