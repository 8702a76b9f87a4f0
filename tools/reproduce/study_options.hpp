// What reproductions share: their options, the parts that a user asks for by name, and how planned runs and
// pictures are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tools/evaluation_plan.hpp"
#include "tools/options.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

// --threads; `what` is made by them and does not depend on how many there are.
void AddThreads(Options& options, const char* what);
// --no-pictures and --estimate: of reproductions that make a page out of planned runs.
void AddRunOptions(Options& options);

std::vector<std::uint64_t> SeedList(const Options& options, const std::string& option);  // of a range A:B

// Indices of the `known` names that option `option` lists, separated by commas, in the order of `known`; all
// where it lists none. Error for a name that is not known (`kind`: "experiment"), with the nearest one.
std::vector<std::size_t> ChosenParts(const Options& options, const std::string& option,
                                     const std::vector<std::string>& known, const std::string& kind);

// --only of a table of experiments (with `name` and `summary`), and the rows that it asks for.
template <typename Row, std::size_t N>
void AddOnly(Options& options, const Row (&table)[N]) {
  std::string list;
  for (const Row& row : table) list += Join(list.empty() ? "" : ", ", row.name, " (", row.summary, ")");
  options.Value("only", "", "experiments, separated by commas, of: " + list + " [all]");
}
template <typename Row, std::size_t N>
std::vector<Row> ChosenExperiments(const Options& options, const Row (&table)[N]) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  std::vector<Row> chosen;
  for (const std::size_t i : ChosenParts(options, "only", names, "experiment")) chosen.push_back(table[i]);
  return chosen;
}

// Says what is kept and what is left of the planned runs, and makes what is left; nothing when all are there.
// Else the exit code: with --estimate, which lists them alone, or interrupted.
std::optional<int> MakeRuns(const Options& options, ReproductionRuns& runs);

// What repeats a page: the verb with those of the options that were given, and --out DIR. `names`: all that
// decide what the page says, switches or not.
std::string MadeBy(const Options& options, std::initializer_list<const char*> names);

// Runs tools/SCRIPT over the folder unless --no-pictures; says why where it did not draw.
void DrawPictures(const Options& options, const std::string& script, const std::string& folder);

}  // namespace berth
