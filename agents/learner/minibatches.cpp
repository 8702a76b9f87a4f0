#include "agents/learner/minibatches.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

#include "env/base/check.hpp"

namespace berth {

RowGroups MakeRowGroups(std::span<const std::uint8_t> starts, int steps, int envs) {
  BERTH_CHECK(starts.size() == static_cast<std::size_t>(steps) * static_cast<std::size_t>(envs),
              starts.size());
  RowGroups groups;
  groups.rows.reserve(starts.size());
  for (int i = 0; i < envs; ++i) {
    for (int t = 0; t < steps; ++t) {
      const std::int64_t row = static_cast<std::int64_t>(t) * envs + i;
      if (t == 0 || starts[static_cast<std::size_t>(row)]) {
        groups.begin.push_back(static_cast<std::int64_t>(groups.rows.size()));
      }
      groups.rows.push_back(row);
    }
  }
  groups.begin.push_back(static_cast<std::int64_t>(groups.rows.size()));
  return groups;
}

std::vector<std::int64_t> Permutation(std::int64_t n, Stream& stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1], order[stream.Below(static_cast<std::uint32_t>(k))]);
  }
  return order;
}

std::vector<std::int64_t> CutMinibatches(const RowGroups& groups, std::span<const std::int64_t> order,
                                         std::int64_t minibatch) {
  std::vector<std::int64_t> cuts = {0};
  std::int64_t rows = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto group = static_cast<std::size_t>(order[k]);
    rows += groups.begin[group + 1] - groups.begin[group];
    if (rows >= minibatch || k + 1 == order.size()) {
      cuts.push_back(static_cast<std::int64_t>(k) + 1);
      rows = 0;
    }
  }
  return cuts;
}

}  // namespace berth
