// Rows as columns: HDF5 holds a dataset for each member of a struct.
//
//   out.Array("cluster/count", ColumnOf(cluster.types, &GpuType::count));
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

namespace berth {

// Of every row a data member, or what a function makes of the row.
template <class Row, class Member>
auto ColumnOf(const std::vector<Row>& rows, const Member& member) {
  std::vector<std::remove_cvref_t<std::invoke_result_t<const Member&, const Row&>>> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(std::invoke(member, row));
  return column;
}

}  // namespace berth
