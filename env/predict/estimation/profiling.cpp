#include "env/predict/estimation/profiling.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "env/predict/estimation/rate_matrix.hpp"

namespace berth {
namespace {

constexpr std::uint32_t kChoice = 1, kNoise = 2;  // of the streams of Purpose::kEstimate

}  // namespace

Profile ProfileRates(const ThroughputTable& truth, int num_types, const ProfilingPlan& plan) {
  Profile profile;
  profile.measured = RateMatrix(truth, num_types);
  PartialMatrix& matrix = profile.measured;
  const std::vector<int> gpus = ColumnGpus(truth, num_types);
  Stream choice(plan.seed, Purpose::kEstimate, Split::kTrain, kChoice);
  Stream noise(plan.seed, Purpose::kEstimate, Split::kTrain, kNoise);
  for (int i = 0; i < matrix.rows; ++i) {
    for (int j = 0; j < matrix.columns; ++j) {
      const bool chosen = choice.Uniform() < plan.observed;
      const double deviation = noise.Normal();
      char& known = matrix.known[matrix.At(i, j)];
      if (known == 0) continue;
      known = chosen;
      if (!chosen || plan.seconds <= 0.0) continue;
      ++profile.runs;
      profile.gpu_seconds += plan.seconds * gpus[static_cast<std::size_t>(j)];
      double& log_rate = matrix.value[matrix.At(i, j)];
      const double steps = std::floor(Exp(log_rate) * plan.seconds);
      known = steps >= 1.0;
      if (known == 0) continue;
      // The mean step is 1 + variation z / sqrt(n) times what it should be; never less than a tenth.
      log_rate -= Log(std::max(0.1, 1.0 + plan.variation * deviation / std::sqrt(steps)));
    }
  }
  return profile;
}

}  // namespace berth
