#include "tools/bench/bench_rows.hpp"

#include "tools/bench/choose.hpp"

namespace berth::bench {

std::vector<BenchRow> AllRows() {
  std::vector<BenchRow> rows;
#define BERTH_APPEND(function) rows.insert(rows.end(), function().begin(), function().end());
  BERTH_BENCH_GROUPS(BERTH_APPEND)
#undef BERTH_APPEND
  return rows;
}

std::vector<BenchRow> SelectRows(const std::string& only) {
  const std::vector<BenchRow> all = AllRows();
  std::vector<std::string> names;
  for (const BenchRow& row : all) names.emplace_back(row.name);
  std::vector<BenchRow> rows;
  for (const std::size_t i : Choose(names, only, "--only")) rows.push_back(all[i]);
  return rows;
}

}  // namespace berth::bench
