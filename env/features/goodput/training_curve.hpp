// How a training goes: the work of its epochs, and the noise of its gradients at each of them.
#pragma once

#include <vector>

#include "env/predict/goodput/batch_choice.hpp"

namespace berth {

// One run at a fixed batch: a row an epoch.
struct TrainingRun {
  int batch;                       // samples a step
  std::vector<double> progress;    // steps of the initial batch that it was worth, cumulative
  std::vector<double> iterations;  // steps, cumulative
  std::vector<double> sqr, var;    // |g|^2 of the gradient, trace of its variance at the initial batch
};

// Progress is counted in steps of the initial batch at full statistical efficiency: "scale-invariant
// iterations" (Johnson et al., AdaScale SGD, ICML 2020). Thread rule: safe to read from any thread.
class TrainingCurve {
 public:
  // At least one run; all of one length. Throws Error.
  explicit TrainingCurve(std::vector<TrainingRun> runs);

  int epochs() const { return static_cast<int>(target_.size()) - 1; }
  int initial_batch() const { return runs_.front().batch; }
  int max_batch() const { return runs_.back().batch; }
  // Progress at which `epoch` epochs are done: the least that any run needed.
  double Target(int epoch) const { return target_[static_cast<std::size_t>(epoch)]; }
  int EpochAt(double progress) const;  // finished epochs
  // During epoch `epoch` (from 0), linear in the batch.
  goodput::GradientStatistics Gradients(double batch, int epoch) const;
  // Steps until epoch `epoch` (from 0) is over, linear in the batch.
  double Iterations(double batch, int epoch) const;

 private:
  double OnRuns(const std::vector<double> TrainingRun::*column, double batch, int epoch) const;
  std::vector<TrainingRun> runs_;  // by batch
  std::vector<double> target_;     // [epochs + 1]
};

}  // namespace berth
