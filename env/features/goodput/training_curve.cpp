#include "env/features/goodput/training_curve.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

TrainingCurve::TrainingCurve(std::vector<TrainingRun> runs) : runs_(std::move(runs)), target_{0.0} {
  std::sort(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  for (std::size_t epoch = 0; epoch < runs_.front().progress.size(); ++epoch) {
    double least = runs_.front().progress[epoch];
    for (const TrainingRun& run : runs_) least = std::min(least, run.progress[epoch]);
    if (!(least > target_.back()))
      throw Error(Join("epoch ", epoch + 1, ": expected progress above ", target_.back(), ", found ", least));
    target_.push_back(least);
  }
}

int TrainingCurve::EpochAt(double progress) const {
  const auto above = std::upper_bound(target_.begin(), target_.end(), progress);
  return static_cast<int>(above - target_.begin()) - 1;
}

double TrainingCurve::OnRuns(const std::vector<double> TrainingRun::*column, double batch, int epoch) const {
  const auto above = std::lower_bound(runs_.begin(), runs_.end(), batch,
                                      [](const auto& run, double b) { return run.batch < b; });
  if (above == runs_.end()) return (runs_.back().*column)[U(epoch)];
  const double high = ((*above).*column)[U(epoch)];
  if (above->batch == batch || above == runs_.begin()) return high;
  const TrainingRun& below = *(above - 1);
  const double low = (below.*column)[U(epoch)];
  return low + (high - low) * ((batch - below.batch) / (above->batch - below.batch));
}

goodput::GradientStatistics TrainingCurve::Gradients(double batch, int epoch) const {
  return {OnRuns(&TrainingRun::sqr, batch, epoch), OnRuns(&TrainingRun::var, batch, epoch)};
}

double TrainingCurve::Iterations(double batch, int epoch) const {
  return OnRuns(&TrainingRun::iterations, batch, epoch);
}

}  // namespace berth
