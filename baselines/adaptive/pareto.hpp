// Ranks and crowding of points with two objectives that are to be large: what NSGA-II (Deb et al., IEEE TEVC
// 6(2), 2002, sections III.A and III.B) selects by.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace berth::pollux {

using Value = std::array<double, 2>;

inline bool Dominates(const Value& a, const Value& b) {
  return a[0] >= b[0] && a[1] >= b[1] && (a[0] > b[0] || a[1] > b[1]);
}

// Fronts of positions into `values`: the first is dominated by nobody, each next by the former ones alone.
// Only as many as hold `enough` points. O(n log n).
std::vector<std::vector<int>> ParetoFronts(std::span<const Value> values, std::size_t enough);

// Mean over objectives of the distance between the neighbours, in units of the front's extent; infinite at
// the ends and for up to two points, 0 for all but the first of equal ones (as pymoo 0.4.2). [front]
std::vector<double> Crowding(std::span<const Value> values, std::span<const int> front);

}  // namespace berth::pollux
