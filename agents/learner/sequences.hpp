// Where a rollout is cut into sequences, which a network with a memory learns from: so many decision points
// of one environment one after the other, none beyond the end of an episode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth {

// [T, N] 1 where a sequence begins. starts [T, N]: rows that begin a point (a row that does not is a command
// more at the one before); ended [T, N] not 0: an episode ends with the row. `length` points at most.
std::vector<std::uint8_t> SequenceStarts(std::span<const std::uint8_t> starts,
                                         std::span<const std::uint8_t> terminated,
                                         std::span<const std::uint8_t> truncated, int steps, int envs,
                                         int length);

// Of a minibatch: `rows` (t * envs + i) of sequences that begin at `begin` [S + 1]. Makes `begin` where the
// points in them begin, and gives back where the sequences begin among those, [S + 1].
std::vector<std::size_t> CutSequences(std::span<const std::uint8_t> starts,
                                      std::span<const std::int64_t> rows, std::vector<std::int64_t>& begin);

}  // namespace berth
