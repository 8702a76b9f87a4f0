#include "env/base/rng.hpp"

#include <cmath>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth {

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

// Counter words: block of draws, purpose and split, env, episode. A stream holds 2^34 draws.
Stream::Stream(std::uint64_t seed, Purpose purpose, Split split, std::uint32_t env, std::uint32_t episode)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(purpose) | static_cast<std::uint32_t>(split) << 16, env,
               episode} {}

std::uint32_t Stream::Bits() {
  const auto lane = static_cast<std::size_t>(position_ & 3);
  if (lane == 0) {
    counter_[0] = static_cast<std::uint32_t>(position_ >> 2);
    block_ = Philox4x32(counter_, key_);
  }
  ++position_;
  return block_[lane];
}

void Stream::Seek(std::uint64_t position) {
  position_ = position;
  if ((position & 3) != 0) {
    counter_[0] = static_cast<std::uint32_t>(position >> 2);
    block_ = Philox4x32(counter_, key_);
  }
}

double Stream::Uniform() {
  const std::uint64_t high = Bits() >> 5;  // 27 bits
  const std::uint64_t low = Bits() >> 6;   // 26 bits
  return static_cast<double>(high << 26 | low) * 0x1.0p-53;
}

double Stream::Uniform(double low, double high) {
  return low + (high - low) * Uniform();
}

// Lemire's multiply and reject (2019).
std::uint32_t Stream::Below(std::uint32_t n) {
  BERTH_CHECK(n >= 1, "Below(", n, ")");
  std::uint64_t product = std::uint64_t{Bits()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = (0u - n) % n;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{Bits()} * n;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

double Stream::Exponential(double mean) {
  return -mean * Log(1.0 - Uniform());
}

double Stream::Normal() {
  for (;;) {
    const double u = 2.0 * Uniform() - 1.0;
    const double v = 2.0 * Uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * Log(s) / s);
  }
}

}  // namespace berth
