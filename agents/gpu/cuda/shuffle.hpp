// A pseudo-random order of 0 .. n-1 without memory: element k of it is a function of k and a key, so that a
// minibatch's rows are computed where they are used. A Feistel network over just enough bits, whose images
// beyond n are walked on until one is below (Mitchell, Stokes, Frank & Holmes 2022, "Bandwidth-optimal random
// shuffling for GPUs", section 4), with Philox as the round function.
#pragma once

#include <cstdint>

#include "agents/gpu/cuda/numbers.hpp"

namespace berth::cuda {

inline constexpr int kFeistelRounds = 8;

// A bijection of 0 .. n-1 for every key; `at` < n <= 2^62.
BERTH_HOST_DEVICE std::int64_t Shuffled(std::int64_t at, std::int64_t n, const StreamKey& key) {
  int bits = 2;
  while (bits < 62 && (std::int64_t{1} << bits) < n) ++bits;
  auto x = static_cast<std::uint64_t>(at);
  do {
    int left_bits = bits / 2, right_bits = bits - bits / 2;
    for (int round = 0; round < kFeistelRounds; ++round) {
      const std::uint64_t left = x >> right_bits, right = x & ((std::uint64_t{1} << right_bits) - 1);
      const std::uint32_t use = key.purpose | static_cast<std::uint32_t>(round + 1) << 24;
      const Words f =
          Philox({{static_cast<std::uint32_t>(right), use, key.env, key.episode}}, key.key0, key.key1);
      const std::uint64_t mixed = (left ^ f.word[0]) & ((std::uint64_t{1} << left_bits) - 1);
      x = right << left_bits | mixed;
      const int swap = left_bits;
      left_bits = right_bits;
      right_bits = swap;
    }
  } while (x >= static_cast<std::uint64_t>(n));
  return static_cast<std::int64_t>(x);
}

}  // namespace berth::cuda
