#include "tools/bench/bench_rows.hpp"

#include <algorithm>

#include "env/spec.hpp"

namespace berth::bench {
namespace {

std::string GroupOf(const std::string& name) {
  return name.substr(0, name.find('/'));
}

}  // namespace

std::vector<BenchRow> AllRows() {
  std::vector<BenchRow> rows;
#define BERTH_APPEND(function) rows.insert(rows.end(), function().begin(), function().end());
  BERTH_BENCH_GROUPS(BERTH_APPEND)
#undef BERTH_APPEND
  return rows;
}

std::vector<BenchRow> SelectRows(const std::string& only) {
  const std::vector<BenchRow> all = AllRows();
  if (only.empty()) return all;
  std::vector<std::string> names;
  for (const BenchRow& row : all) {
    names.emplace_back(row.name);
    if (names.size() == 1 || GroupOf(row.name) != GroupOf(names[names.size() - 2])) {
      names.insert(names.end() - 1, GroupOf(row.name));
    }
  }
  const std::vector<std::string> wanted = SplitOutsideParentheses(only, ',');
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error(Join("--only: unknown row '", name, "'", DidYouMean(name, names),
                       "; 'berth bench --list' prints them"));
    }
  }
  std::vector<BenchRow> rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows), [&](const BenchRow& row) {
    return std::find(wanted.begin(), wanted.end(), row.name) != wanted.end() ||
           std::find(wanted.begin(), wanted.end(), GroupOf(row.name)) != wanted.end();
  });
  return rows;
}

}  // namespace berth::bench
