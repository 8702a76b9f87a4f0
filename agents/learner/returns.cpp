#include "agents/learner/returns.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "agents/gpu/cuda/backward_scan.hpp"
#include "env/base/check.hpp"

namespace berth {

void Gae(const GaeInput& input, double lambda, double lambda_within_instant, std::span<float> advantage,
         std::span<float> returns) {
  const auto envs = static_cast<std::size_t>(input.envs);
  const std::size_t size = static_cast<std::size_t>(input.steps) * envs;
  BERTH_CHECK(input.reward.size() == size && input.discount.size() == size && input.value.size() == size &&
                  input.terminated.size() == size && input.truncated.size() == size &&
                  input.final_value.size() == size && input.last_value.size() == envs &&
                  advantage.size() == size && returns.size() == size,
              "sizes differ from ", size);
  const cuda::GaeRule rule = {{.steps = input.steps,
                               .envs = input.envs,
                               .reward = input.reward.data(),
                               .discount = input.discount.data(),
                               .value = input.value.data(),
                               .terminated = input.terminated.data(),
                               .truncated = input.truncated.data(),
                               .final_value = input.final_value.data(),
                               .last_value = input.last_value.data(),
                               .lambda = lambda,
                               .lambda_within_instant = lambda_within_instant}};
  for (int i = 0; i < input.envs; ++i) {
    double trace = 0.0;
    for (int t = input.steps; t-- > 0;) {
      const cuda::Affine map = rule.Map(t, i);
      const double later = trace;
      trace = map.add + map.multiply * trace;
      const std::size_t k = static_cast<std::size_t>(t) * envs + static_cast<std::size_t>(i);
      rule.Write(t, i, later, trace, &advantage[k], &returns[k]);
    }
  }
}

void Standardize(std::span<float> values) {
  if (values.size() < 2) return;
  const auto n = static_cast<double>(values.size());
  double mean = 0.0, squares = 0.0;
  for (const float x : values) mean += x / n;
  for (const float x : values) squares += (x - mean) * (x - mean);
  const double deviation = std::sqrt(squares / (n - 1.0));
  for (float& x : values) x = static_cast<float>((x - mean) / (deviation + 1e-8));
}

double ExplainedVariance(std::span<const float> value, std::span<const float> returns) {
  BERTH_CHECK(value.size() == returns.size(), value.size(), " ", returns.size());
  const auto n = static_cast<double>(value.size());
  double mean = 0.0, error_mean = 0.0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    mean += returns[i] / n;
    error_mean += (static_cast<double>(returns[i]) - value[i]) / n;
  }
  double variance = 0.0, error_variance = 0.0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double d = returns[i] - mean;
    const double e = static_cast<double>(returns[i]) - value[i] - error_mean;
    variance += d * d;
    error_variance += e * e;
  }
  if (!(variance > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  return 1.0 - error_variance / variance;
}

}  // namespace berth
