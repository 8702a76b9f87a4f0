// A matrix of which some entries are known: what the estimators of throughput complete. Rows are job types,
// columns are where and how one may run (rate_matrix.hpp); nothing here knows that.
#pragma once

#include <cstddef>
#include <vector>

namespace berth {

struct PartialMatrix {
  int rows = 0, columns = 0;
  std::vector<double> value;  // [rows, columns]; read only where known
  std::vector<char> known;    // [rows, columns]
  std::vector<int> group;  // [columns] of columns that are alike, from 0 without gaps; empty = each its own

  std::size_t At(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }
  bool Known(int row, int column) const { return known[At(row, column)] != 0; }
};

}  // namespace berth
