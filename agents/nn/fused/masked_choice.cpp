#include "agents/nn/fused/masked_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "agents/nn/kernels/elementwise.hpp"
#include "env/base/check.hpp"

namespace berth {

MaskedSample SampleMasked(std::span<const float> logits, std::span<const std::uint8_t> mask, Stream& stream) {
  const std::size_t n = mask.size();
  thread_local std::vector<float> memory;
  if (memory.size() < 2 * n) memory.resize(2 * n);
  const std::span<float> shifted = std::span<float>(memory).first(n),
                         probability = std::span<float>(memory).subspan(n, n);
  const kernels::SoftmaxRow row = kernels::MaskedSoftmax(logits, mask, shifted, probability);
  const double target = stream.Uniform();
  double reached = 0.0;
  std::size_t action = n;
  for (std::size_t a = 0; a < n; ++a) {
    // Eight at a time where none is legal: they add 0.
    std::uint64_t eight = 1;
    if (a + sizeof eight <= n) std::memcpy(&eight, mask.data() + a, sizeof eight);
    if (eight == 0) {
      a += sizeof eight - 1;
      continue;
    }
    reached += probability[a];
    if (target < reached) {
      action = a;
      break;
    }
  }
  // What rounding leaves over, and rows of NaN.
  if (action == n) action = static_cast<std::size_t>(ArgmaxMasked(logits, mask));
  return {static_cast<int>(action), shifted[action] - row.log_sum};
}

float SoftMean(std::span<const float> scores, std::span<const std::uint8_t> mask, double temperature,
               std::span<float> policy) {
  const std::size_t n = mask.size();
  thread_local std::vector<float> memory;
  if (memory.size() < 2 * n) memory.resize(2 * n);
  const std::span<float> sharp = std::span<float>(memory).first(n),
                         shifted = std::span<float>(memory).subspan(n, n);
  const auto scale = static_cast<float>(1.0 / temperature);
  for (std::size_t a = 0; a < n; ++a) sharp[a] = scale * scores[a];
  kernels::MaskedSoftmax(sharp, mask, shifted, policy);
  float mean = 0.0F;
  for (std::size_t a = 0; a < n; ++a) mean += policy[a] * scores[a];
  return mean;
}

int ArgmaxMasked(std::span<const float> scores, std::span<const std::uint8_t> mask) {
  int best = -1;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] && (best < 0 || scores[a] > scores[static_cast<std::size_t>(best)]))
      best = static_cast<int>(a);
  }
  BERTH_CHECK(best >= 0, "no action is allowed among ", mask.size());
  return best;
}

int UniformMasked(std::span<const std::uint8_t> mask, Stream& stream) {
  std::uint32_t allowed = 0;
  for (const std::uint8_t m : mask) allowed += m != 0;
  BERTH_CHECK(allowed > 0, "no action is allowed among ", mask.size());
  std::uint32_t skip = stream.Below(allowed);
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] && skip-- == 0) return static_cast<int>(a);
  }
  BERTH_CHECK(false, "unreachable");
  return -1;
}

}  // namespace berth
