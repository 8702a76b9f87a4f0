#include "baselines/cheapest_assignment.hpp"

#include <algorithm>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<int> CheapestAssignment(std::span<const double> cost, int rows, int columns) {
  BERTH_CHECK(rows <= columns, rows, " rows, ", columns, " columns");
  // 1-based, column 0 holds the row that looks for a place.
  std::vector<double> row_potential(U(rows) + 1, 0.0), column_potential(U(columns) + 1, 0.0);
  std::vector<int> row_of(U(columns) + 1, 0), before(U(columns) + 1, 0);
  std::vector<double> least(U(columns) + 1);
  std::vector<char> used(U(columns) + 1);
  for (int row = 1; row <= rows; ++row) {
    row_of[0] = row;
    int column = 0;
    std::fill(least.begin(), least.end(), kInfinity);
    std::fill(used.begin(), used.end(), 0);
    do {
      used[U(column)] = 1;
      const int here = row_of[U(column)];
      double step = kInfinity;
      int next = 0;
      const double* costs = cost.data() + U(here - 1) * U(columns) - 1;
      for (int c = 1; c <= columns; ++c) {
        if (used[U(c)] != 0) continue;
        const double reduced = costs[c] - row_potential[U(here)] - column_potential[U(c)];
        if (reduced < least[U(c)]) least[U(c)] = reduced, before[U(c)] = column;
        if (least[U(c)] < step) step = least[U(c)], next = c;
      }
      for (int c = 0; c <= columns; ++c) {
        if (used[U(c)] != 0) {
          row_potential[U(row_of[U(c)])] += step;
          column_potential[U(c)] -= step;
        } else {
          least[U(c)] -= step;
        }
      }
      column = next;
    } while (row_of[U(column)] != 0);
    for (; column != 0; column = before[U(column)]) row_of[U(column)] = row_of[U(before[U(column)])];
  }
  std::vector<int> result(U(rows));
  for (int c = 1; c <= columns; ++c) {
    if (row_of[U(c)] != 0) result[U(row_of[U(c)] - 1)] = c - 1;
  }
  return result;
}

}  // namespace berth
