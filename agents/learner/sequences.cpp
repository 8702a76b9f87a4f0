#include "agents/learner/sequences.hpp"

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

std::vector<std::uint8_t> SequenceStarts(std::span<const std::uint8_t> starts,
                                         std::span<const std::uint8_t> terminated,
                                         std::span<const std::uint8_t> truncated, int steps, int envs,
                                         int length) {
  const std::size_t size = U(steps) * U(envs);
  BERTH_CHECK(starts.size() == size && terminated.size() == size && truncated.size() == size, starts.size(),
              " of ", size);
  std::vector<std::uint8_t> begins(size);
  for (std::size_t i = 0; i < U(envs); ++i) {
    int points = 0;
    for (std::size_t k = i; k < size; k += U(envs)) {
      const bool ended = k < U(envs) || terminated[k - U(envs)] != 0 || truncated[k - U(envs)] != 0;
      if (!ended && starts[k] == 0) continue;
      begins[k] = ended || points == length;
      points = begins[k] != 0 ? 1 : points + 1;
    }
  }
  return begins;
}

}  // namespace berth
