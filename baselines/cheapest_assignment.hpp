// The assignment problem: minimum cost bipartite matching.
#pragma once

#include <span>
#include <vector>

namespace berth {

// The cheapest way to give each of `rows` its own column; cost [rows, columns], rows <= columns. Shortest
// augmenting paths with potentials (Kuhn 1955, Munkres 1957; Jonker and Volgenant 1987): O(rows^2 columns),
// exact up to rounding. [rows] column of each row.
std::vector<int> CheapestAssignment(std::span<const double> cost, int rows, int columns);

}  // namespace berth
