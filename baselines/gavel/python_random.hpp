// Python's random.Random(seed): MT19937 (Matsumoto and Nishimura 1998) seeded by init_by_array, and its
// Fisher-Yates shuffle. Only to draw what the reference simulator draws; everything else in Berth uses
// env/base/rng.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::gavel {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);
  std::uint32_t Bits();                  // 32 uniform bits
  std::uint32_t Below(std::uint32_t n);  // randbelow: by rejection on bit_length(n) bits; n >= 1
  void Shuffle(std::vector<int>& values) {
    for (std::size_t i = values.size(); i-- > 1;) {
      std::swap(values[i], values[Below(static_cast<std::uint32_t>(i + 1))]);
    }
  }

 private:
  static constexpr std::size_t kSize = 624;
  void Refill();
  std::array<std::uint32_t, kSize> state_;
  std::size_t next_ = kSize;
};

}  // namespace berth::gavel
