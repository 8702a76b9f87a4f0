// How long a step takes when it has stages.
#pragma once

#include <algorithm>

namespace berth {

struct StageTimes {       // seconds a step
  double gpu = 0.0;       // compute
  double cpu = 0.0;       // preprocessing on the cores that the job has
  double gpu_prep = 0.0;  // the same preprocessing on its GPUs
  double transfer = 0.0;
};

// With part f of the preprocessing on the GPU: overlapped max(gpu + f gpu_prep, (1 - f) cpu, transfer),
// otherwise the sum.
inline double StepSeconds(const StageTimes& t, bool overlap, double f) {
  const double gpu = t.gpu + f * t.gpu_prep, cpu = (1.0 - f) * t.cpu;
  return overlap ? std::max({gpu, cpu, t.transfer}) : gpu + cpu + t.transfer;
}

// The f in [0, 1] of the shortest step. Overlapped: where GPU and CPU take equally long, gpu + f gpu_prep =
// (1 - f) cpu; the left side rises with f and the right side falls, so their maximum is least there.
// Otherwise the sum is linear in f: all of it or nothing.
inline double BestOffload(const StageTimes& t, bool overlap) {
  if (!overlap) return t.gpu_prep < t.cpu ? 1.0 : 0.0;
  if (t.cpu + t.gpu_prep <= 0.0) return 0.0;
  return std::clamp((t.cpu - t.gpu) / (t.cpu + t.gpu_prep), 0.0, 1.0);
}

}  // namespace berth
