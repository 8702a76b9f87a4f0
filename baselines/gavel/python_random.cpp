#include "baselines/gavel/python_random.hpp"

#include <algorithm>
#include <bit>

namespace berth::gavel {

PythonRandom::PythonRandom(std::uint64_t seed) {
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                            static_cast<std::uint32_t>(seed >> 32)};
  const std::size_t words = key[1] != 0 ? 2 : 1;
  state_[0] = 19650218U;
  for (std::size_t i = 1; i < kSize; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }
  const auto mixed = [this](std::size_t i, std::uint32_t factor) {
    return state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor);
  };
  std::size_t i = 1, j = 0;
  const auto advance = [&] {
    if (++i == kSize) state_[0] = state_[kSize - 1], i = 1;
  };
  for (std::size_t k = std::max(kSize, words); k > 0; --k) {
    state_[i] = mixed(i, 1664525U) + key[j] + static_cast<std::uint32_t>(j);
    advance();
    if (++j == words) j = 0;
  }
  for (std::size_t k = kSize - 1; k > 0; --k) {
    state_[i] = mixed(i, 1566083941U) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::Refill() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kSize] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
  }
  next_ = 0;
}

std::uint32_t PythonRandom::Bits() {
  if (next_ == kSize) Refill();
  std::uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

std::uint32_t PythonRandom::Below(std::uint32_t n) {
  const int bits = std::bit_width(n);
  std::uint32_t value;
  do {
    value = Bits() >> (32 - bits);
  } while (value >= n);
  return value;
}

}  // namespace berth::gavel
