// The assignment problem with few kinds of columns: minimum cost where every row goes to one of some groups,
// each with room for so many.
#pragma once

#include <span>
#include <vector>

namespace berth {

// The cheapest way to give each of `rows` a group; cost [rows, groups], room [groups] of sum >= rows. Rows
// come one after the other, each by a shortest path of moves between groups (successive shortest paths:
// Ahuja, Magnanti and Orlin 1993, section 9.7), exact up to rounding: O(rows groups (groups^2 + log rows)).
// Equal costs: what came first stays. [rows] group of each row.
std::vector<int> GroupedAssignment(std::span<const double> cost, std::span<const int> room);

}  // namespace berth
