#include "agents/fused/masked_choice.hpp"

#include <cmath>
#include <cstddef>

#include "env/check.hpp"

namespace berth {

MaskedSample SampleMasked(std::span<const float> logits, std::span<const std::uint8_t> mask, Stream& stream) {
  const int best = ArgmaxMasked(logits, mask);
  const float highest = logits[static_cast<std::size_t>(best)];
  double sum = 0.0;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a]) sum += std::exp(logits[a] - highest);
  }
  const double target = stream.Uniform() * sum;
  double reached = 0.0;
  int action = best;  // what rounding leaves over
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (!mask[a]) continue;
    reached += std::exp(logits[a] - highest);
    if (target < reached) {
      action = static_cast<int>(a);
      break;
    }
  }
  return {action, static_cast<float>(logits[static_cast<std::size_t>(action)] - highest - std::log(sum))};
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
