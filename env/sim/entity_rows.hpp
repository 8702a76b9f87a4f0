// Rows of an observation for what is not a job (BlockInfo::entity): nodes, devices, tenants, jobs that wait
// for others. A list of them has a stated order and a stated most; those beyond it share one further row, so
// that nothing vanishes unseen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "env/sim/observation_block.hpp"

namespace berth {

inline constexpr long long kMostEntities = 1024;
// The first two channels of every entity, which BlockInfo::entity begins with (in words of its own).
inline constexpr std::size_t kEntityThere = 0, kEntityCount = 1;
inline constexpr const char* kEntityCountMeaning =
    "log2(how many the row sums up, in means of the channels behind) / 10; 0 = it is one";

// Writes `count` entities of `channels` channels: of each one `write(i, f)` the channels from f[2] on, which
// are 0 before. Those from `most` on share the row behind: f[0] = 1, f[1] how many there are, and the mean of
// each of the others; but 0 of the last `edges`, since rows have no mean. `scratch` [channels].
template <class F>
void WriteEntities(const ChannelRows& rows, std::size_t most, std::size_t count, std::size_t channels,
                   std::size_t edges, std::vector<float>& scratch, const F& write) {
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    rows[i][kEntityThere] = 1.0F;
    write(i, rows[i]);
  }
  if (count <= most) return;
  float* tail = rows[most];
  const std::size_t summed = channels - edges;
  scratch.resize(channels);
  for (std::size_t i = most; i < count; ++i) {
    std::fill(scratch.begin(), scratch.end(), 0.0F);
    write(i, scratch.data());
    for (std::size_t c = 2; c < summed; ++c) tail[c] += scratch[c];
  }
  const auto n = static_cast<float>(count - most);
  for (std::size_t c = 2; c < summed; ++c) tail[c] /= n;
  tail[kEntityThere] = 1.0F;
  tail[kEntityCount] = static_cast<float>(Log2(static_cast<double>(n)) / 10.0);
}

// A block with entities reads its parameter `most`.
class EntityBlock : public ObservationBlock {
 public:
  explicit EntityBlock(int most) : most_(static_cast<std::size_t>(most)) {}

 protected:
  std::size_t most_;
  std::vector<float> scratch_;
};

// BlockInfo::make of such a block.
template <class Block>
std::unique_ptr<ObservationBlock> MakeEntityBlock(Params& params, const BlockSetup& setup) {
  return std::make_unique<Block>(static_cast<int>(params.Integer("most", 1, kMostEntities)), setup);
}

}  // namespace berth
