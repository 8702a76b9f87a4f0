// Loops over rows or classes eight at a time, in the vector instructions that the machine has
// (env/base/vector_unit.hpp). Eight lanes everywhere, so that the bits are the same for every instruction
// set: they meet only in the totals below, in one order.
//
//   LaneSum sum;
//   EachEight(n, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
//     using V = typename decltype(lanes)::Vector;  // Eight, or double for what is left over
//     const V x = Load<V>(from + i);
//     Store<V>(to + i, x * x);
//     sum.Add(x);
//   });
#pragma once

#include <cstddef>

#include "env/base/vector_unit.hpp"

// Vectors wider than the baseline's pass only between functions that are always inlined: no call sees them.
#pragma GCC diagnostic ignored "-Wpsabi"

#define BERTH_INLINE [[gnu::always_inline]] inline
#define BERTH_INLINE_LAMBDA __attribute__((always_inline))

namespace berth::gavel {

typedef double Eight __attribute__((vector_size(64)));

template <class V>
struct Lanes {
  using Vector = V;
};

template <class V>
BERTH_INLINE V Load(const double* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
template <class V>
BERTH_INLINE void Store(double* to, const V& value) {
  __builtin_memcpy(to, &value, sizeof value);
}
template <class V>
BERTH_INLINE V Most(const V& a, const V& b) {
  return a < b ? b : a;
}

class LaneSum {
 public:
  BERTH_INLINE void Add(double value) { rest_ += value; }
  BERTH_INLINE void Add(const Eight& value) { lanes_ += value; }
  BERTH_INLINE double Total() const {
    return ((lanes_[0] + lanes_[1]) + (lanes_[2] + lanes_[3])) +
           ((lanes_[4] + lanes_[5]) + (lanes_[6] + lanes_[7])) + rest_;
  }

 private:
  Eight lanes_ = {};
  double rest_ = 0.0;
};

// The largest value seen, no less than it began with.
class LaneMost {
 public:
  BERTH_INLINE explicit LaneMost(double least = 0.0) : lanes_(Eight{} + least), rest_(least) {}
  BERTH_INLINE void See(double value) { rest_ = Most(rest_, value); }
  BERTH_INLINE void See(const Eight& value) { lanes_ = Most(lanes_, value); }
  BERTH_INLINE double Total() const {
    double most = rest_;
    for (int k = 0; k < 8; ++k) most = Most(most, lanes_[k]);
    return most;
  }

 private:
  Eight lanes_;
  double rest_;
};

template <class Visit>
BERTH_INLINE void EachEightInline(std::size_t n, const Visit& visit) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) visit(i, Lanes<Eight>{});
  for (; i < n; ++i) visit(i, Lanes<double>{});
}
template <class Visit>
void EachEightBaseline(std::size_t n, const Visit& visit) {
  EachEightInline(n, visit);
}
template <class Visit>
BERTH_TARGET_AVX2 void EachEightAvx2(std::size_t n, const Visit& visit) {
  EachEightInline(n, visit);
}
template <class Visit>
BERTH_TARGET_AVX512 void EachEightAvx512(std::size_t n, const Visit& visit) {
  EachEightInline(n, visit);
}

// `visit` must be BERTH_INLINE_LAMBDA: what is called from it keeps the baseline's instructions.
template <class Visit>
void EachEight(std::size_t n, const Visit& visit) {
  static const VectorUnit unit = BestVectorUnit();
  switch (unit) {
    case VectorUnit::kAvx512:
      return EachEightAvx512(n, visit);
    case VectorUnit::kAvx2:
      return EachEightAvx2(n, visit);
    case VectorUnit::kBaseline:
      return EachEightBaseline(n, visit);
  }
}

}  // namespace berth::gavel
