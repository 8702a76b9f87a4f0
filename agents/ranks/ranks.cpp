#include "agents/ranks/ranks.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {

Ranks::Ranks(ProcessGroup& group, int all_envs) : group_(&group), all_envs_(all_envs) {
  if (all_envs < group.size()) {
    throw Error(Join("--envs: expected at least one environment a rank (", group.world().size_variable,
                     " is ", group.size(), "), found ", all_envs));
  }
}

// Blocks are as long as the longest rank's; what is behind a shorter one's is not read.
void Ranks::JoinColumnBytes(std::span<const std::byte> own, std::size_t width, std::uint8_t* all) const {
  const std::size_t row = U(envs()) * width, all_row = U(all_envs_) * width, rows = own.size() / row;
  std::size_t longest = 0;
  for (int r = 0; r < size(); ++r) {
    const auto [begin, end] = PartOfRank(all_envs_, r, size());
    longest = std::max(longest, U(end - begin) * width * rows);
  }
  std::vector<std::uint8_t> block(longest);
  if (!own.empty()) std::memcpy(block.data(), own.data(), own.size());  // of nothing there is no address
  const std::vector<std::uint8_t> blocks = group_->Gather(block);
  for (int r = 0; r < size(); ++r) {
    const auto [begin, end] = PartOfRank(all_envs_, r, size());
    const std::size_t theirs = U(end - begin) * width;
    const std::uint8_t* from = blocks.data() + U(r) * longest;
    for (std::size_t k = 0; k < rows; ++k)
      std::memcpy(all + k * all_row + U(begin) * width, from + k * theirs, theirs);
  }
}

std::vector<std::vector<std::uint8_t>> Ranks::JoinBlocks(std::span<const std::uint8_t> own) const {
  std::vector<std::uint8_t> length(sizeof(std::uint64_t));
  const std::uint64_t mine = own.size();
  std::memcpy(length.data(), &mine, sizeof mine);
  const std::vector<std::uint8_t> lengths = group_->Gather(length);
  std::vector<std::uint64_t> sizes(U(size()));
  std::memcpy(sizes.data(), lengths.data(), lengths.size());
  const std::uint64_t longest = *std::max_element(sizes.begin(), sizes.end());
  std::vector<std::vector<std::uint8_t>> blocks(sizes.size());
  if (longest == 0) return blocks;
  std::vector<std::uint8_t> padded(longest);
  std::copy(own.begin(), own.end(), padded.begin());
  const std::vector<std::uint8_t> all = group_->Gather(padded);
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(r * longest);
    blocks[r].assign(from, from + static_cast<std::ptrdiff_t>(sizes[r]));
  }
  return blocks;
}

}  // namespace berth
