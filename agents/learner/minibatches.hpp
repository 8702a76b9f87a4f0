// Which rows share one observation, and how an epoch deals them out. Within one instant Berth's micro-actions
// see the same observation under different masks: such rows form a group, which needs one forward pass and
// stays together. Where every step changes the observation each group has one row and this is ordinary
// shuffling.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/base/rng.hpp"

namespace berth {

// Rows (t * envs + i) of group k are rows[begin[k]] .. rows[begin[k + 1] - 1].
struct RowGroups {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> begin;  // [groups + 1]
  std::int64_t size() const { return static_cast<std::int64_t>(begin.size()) - 1; }
};
// starts [T, N]: does row t of environment i differ from row t - 1? Row 0 always begins a group.
RowGroups MakeRowGroups(std::span<const std::uint8_t> starts, int steps, int envs);

// A uniform order of 0 .. n-1 (Fisher & Yates).
std::vector<std::int64_t> Permutation(std::int64_t n, Stream& stream);

// Cuts `order` into consecutive minibatches of at least `minibatch` rows; the last may be shorter. Gives the
// first position in `order` of each, and at the end order.size().
std::vector<std::int64_t> CutMinibatches(const RowGroups& groups, std::span<const std::int64_t> order,
                                         std::int64_t minibatch);

}  // namespace berth
