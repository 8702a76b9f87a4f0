#include "baselines/fairness/batch_forecast.hpp"

#include <algorithm>
#include <map>

#include "env/base/index.hpp"

namespace berth {

TrainingTimes BatchForecast::On(const ClusterView& view, int job, int type) const {
  const double rate = view.Rate(job, type);
  const double done = view.AttainedSteps(job), total = done + view.RemainingSteps(job);
  const auto seconds = [&](double from, double to, int batch) {
    return schedule_->Seconds(job, type, rate, from, to, batch);
  };
  TrainingTimes times{seconds(0.0, done, 0), seconds(done, total, 0)};
  if (how_ == Forecast::kKnown || total <= done) return times;
  const std::vector<BatchPhase>& phases = schedule_->phases[U(job)];
  std::map<int, double> seen;  // of each of its batches, the part of the job that was done with it
  for (std::size_t k = 0; k < phases.size(); ++k) {
    const double end = k + 1 < phases.size() ? phases[k + 1].from : total;
    seen[phases[k].batch] += std::max(0.0, std::min(end, done) - phases[k].from) / total;
  }
  double weights = 0.0, sum = 0.0;
  for (const auto& [batch, part] : seen) {
    const double whole = (1.0 / static_cast<double>(seen.size()) + part) / (1.0 + done / total);
    const double left = std::max(0.0, whole - part);
    weights += left, sum += left * seconds(0.0, total, batch);
  }
  if (weights > 0.0) times.left = (1.0 - done / total) * sum / weights;
  return times;
}

}  // namespace berth
