// Vector instructions beyond those that every machine of the architecture has, chosen when the program runs.
// Widths change no bits: lanes are independent and nothing is fused or reassociated.
#pragma once

#include <cstdlib>
#include <string_view>

namespace berth {

#if defined(__x86_64__) && defined(__GNUC__)
#define BERTH_TARGET_AVX2 [[gnu::target("avx2")]]
#define BERTH_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")]]
#define BERTH_HAS_VECTOR_TARGETS 1
#else
#define BERTH_TARGET_AVX2
#define BERTH_TARGET_AVX512
#define BERTH_HAS_VECTOR_TARGETS 0
#endif

enum class VectorUnit { kBaseline, kAvx2, kAvx512 };

// The widest that the machine has, and at most what the environment's BERTH_VECTOR_UNIT names: baseline or
// avx2. That is for tools/determinism, which checks that widths change no bits.
inline VectorUnit BestVectorUnit() {
#if BERTH_HAS_VECTOR_TARGETS
  __builtin_cpu_init();
  const char* set = std::getenv("BERTH_VECTOR_UNIT");
  const std::string_view most = set == nullptr ? "" : set;
  if (most == "baseline") return VectorUnit::kBaseline;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (wide && most != "avx2") return VectorUnit::kAvx512;
  if (__builtin_cpu_supports("avx2")) return VectorUnit::kAvx2;
#endif
  return VectorUnit::kBaseline;
}

}  // namespace berth
