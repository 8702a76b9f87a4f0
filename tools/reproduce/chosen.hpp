// The parts of a reproduction that a user asks for by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tools/options.hpp"

namespace berth {

// Indices of the `known` names that option `option` lists, separated by commas, in the order of `known`; all
// where it lists none. Error for a name that is not known (`kind`: "experiment"), with the nearest one.
std::vector<std::size_t> ChosenParts(const Options& options, const std::string& option,
                                     const std::vector<std::string>& known, const std::string& kind);

// The rows of a table of experiments (with `name` and `summary`) that --only asks for.
template <typename Row, std::size_t N>
std::vector<Row> ChosenExperiments(const Options& options, const Row (&table)[N]) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  std::vector<Row> chosen;
  for (const std::size_t i : ChosenParts(options, "only", names, "experiment")) chosen.push_back(table[i]);
  return chosen;
}

// "name (summary), ..." for --help.
template <typename Row, std::size_t N>
std::string ExperimentList(const Row (&table)[N]) {
  std::string text;
  for (const Row& row : table) text += Join(text.empty() ? "" : ", ", row.name, " (", row.summary, ")");
  return text;
}

}  // namespace berth
