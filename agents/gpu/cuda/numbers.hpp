// Single-precision e^x and log x, and Philox, by IEEE operations alone: the same bits on the device and on
// the host, where the vendor's libraries differ.
#pragma once

#include <cstdint>
#include <cstring>

#include "agents/nn/kernels/host_device.hpp"

namespace berth::cuda {

BERTH_HOST_DEVICE float FromBits(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
BERTH_HOST_DEVICE std::uint32_t ToBits(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// |relative error| < 2e-7 for |x| <= 87, constant beyond: as ExpOf of agents/nn/kernels/ (Cephes' expf,
// Moshier).
BERTH_HOST_DEVICE float Exp(float x) {
  x = x < -87.3F ? -87.3F : x > 88.3F ? 88.3F : x;
  const float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = (x * 1.44269504088896341F + magic) - magic;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  return p * FromBits(static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23);
}

// Of a normal x > 0: |error| < 2e-7 (1 + |log x|). x = 2^n m with m in [sqrt(1/2), sqrt 2), and the
// polynomial of Cephes' logf (Moshier).
BERTH_HOST_DEVICE float Log(float x) {
  const std::uint32_t bits = ToBits(x);
  int n = static_cast<int>(bits >> 23) - 126;
  float m = FromBits((bits & 0x007FFFFFU) | 0x3F000000U);  // [1/2, 1)
  if (m < 0.707106781186547524F) {
    --n;
    m = m + m;
  }
  m -= 1.0F;
  const float square = m * m;
  float p = 7.0376836292e-2F;
  p = p * m + -1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m + -1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m + -1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m + -2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  const auto e = static_cast<float>(n);
  const float tail = p * m * square + -2.12194440e-4F * e - 0.5F * square;
  return (m + tail) + 0.693359375F * e;
}

struct Words {
  std::uint32_t word[4];
};

// Philox4x32-10, as Philox4x32 of env/base/rng.hpp.
BERTH_HOST_DEVICE Words Philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * counter.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(p0)}};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

// A Stream of env/base/rng.hpp as a value: its key and the last three words of its counters.
struct StreamKey {
  std::uint32_t key0, key1, purpose, env, episode;
};

BERTH_HOST_DEVICE std::uint32_t BitsAt(const StreamKey& stream, std::uint64_t position) {
  const Words block =
      Philox({{static_cast<std::uint32_t>(position >> 2), stream.purpose, stream.env, stream.episode}},
             stream.key0, stream.key1);
  return block.word[position & 3];
}

// Stream::Uniform at `position` (which it moves by 2).
BERTH_HOST_DEVICE double UniformAt(const StreamKey& stream, std::uint64_t position) {
  const std::uint64_t high = BitsAt(stream, position) >> 5, low = BitsAt(stream, position + 1) >> 6;
  return static_cast<double>(high << 26 | low) * 0x1.0p-53;
}

}  // namespace berth::cuda
