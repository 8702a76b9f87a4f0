#include "agents/returns.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "env/check.hpp"

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
  for (std::size_t i = 0; i < envs; ++i) {
    double trace = 0.0;
    for (std::size_t t = static_cast<std::size_t>(input.steps); t-- > 0;) {
      const std::size_t k = t * envs + i;
      const double discount = input.discount[k];
      double next =
          t + 1 == static_cast<std::size_t>(input.steps) ? input.last_value[i] : input.value[k + envs];
      if (input.truncated[k]) next = input.final_value[k];
      if (input.terminated[k]) next = 0.0;
      const bool ended = input.terminated[k] || input.truncated[k];
      const double decay = ended ? 0.0 : discount * (discount < 1.0 ? lambda : lambda_within_instant);
      trace = input.reward[k] + discount * next - input.value[k] + decay * trace;
      advantage[k] = static_cast<float>(trace);
      returns[k] = static_cast<float>(trace + input.value[k]);
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
