#include "tools/bench/bench_rows.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth::bench {
namespace {

std::string GroupOf(const std::string& name) {
  return name.substr(0, name.find('/'));
}

}  // namespace

std::vector<std::size_t> Choose(const std::vector<std::string>& names, const std::string& only,
                                const std::string& where) {
  const std::vector<std::string> wanted = SplitOutsideParentheses(only, ',');
  const auto is_wanted = [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  std::vector<std::string> known;  // each group before its first member
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string group = GroupOf(names[i]);
    if (std::find(known.begin(), known.end(), group) == known.end()) known.push_back(group);
    known.push_back(names[i]);
    if (wanted.empty() || is_wanted(names[i]) || is_wanted(group)) chosen.push_back(i);
  }
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(Join(where, ": unknown name '", name, "'", DidYouMean(name, known)));
  }
  return chosen;
}

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
