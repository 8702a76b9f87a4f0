#include "agents/learner/sequences.hpp"

#include <utility>

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

std::vector<std::size_t> CutSequences(std::span<const std::uint8_t> starts,
                                      std::span<const std::int64_t> rows, std::vector<std::int64_t>& begin) {
  std::vector<std::size_t> sequences;
  std::vector<std::int64_t> points;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    sequences.push_back(points.size());
    for (std::int64_t k = begin[s]; k < begin[s + 1]; ++k) {
      const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(k)]);
      if (k == begin[s] || starts[row] != 0) points.push_back(k);
    }
  }
  sequences.push_back(points.size());
  points.push_back(static_cast<std::int64_t>(rows.size()));
  begin = std::move(points);
  return sequences;
}

}  // namespace berth
