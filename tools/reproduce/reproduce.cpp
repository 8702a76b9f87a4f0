// berth reproduce NAME: reruns published experiments and puts published and measured side by side.
#include <algorithm>
#include <iostream>
#include <iterator>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/next_steps.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/studies/studies.hpp"

namespace berth {
namespace {

struct Reproduction {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
  const char *keeps, *summary;
};

#define BERTH_ROW(name, function, keeps, summary) {name, function, keeps, summary},
constexpr Reproduction kReproductions[] = {BERTH_REPRODUCTIONS(BERTH_ROW)};
#undef BERTH_ROW

bool AsksForHelp(const std::string& word) {
  return word == "--help" || word == "--help-all" || word == "-h";
}

// What it says, and then what comes next: whether all held or not, but not where it was interrupted, since
// that says how to go on.
int RunOne(const Reproduction& row, const std::vector<std::string>& arguments) {
  const int code = row.run(arguments);
  const bool helped = std::any_of(arguments.begin(), arguments.end(), AsksForHelp);
  if (code <= 1 && !helped) std::cout << NextOfReproduction(row.name, row.keeps, arguments);
  return code;
}

}  // namespace

int Reproduce(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (AsksForHelp(name)) {
    std::cout << "usage: berth reproduce NAME [options]\n\n"
                 "reruns published experiments, published and measured side by side\n\n";
    for (const Reproduction& row : kReproductions)
      std::cout << "  " << row.name << "  " << row.summary << "\n";
    std::cout << "\n'berth reproduce NAME --help' shows the options. Exit codes: 0 all held, 1 something did "
                 "not.\n";
    return 0;
  }
  std::vector<std::string> names;
  for (const Reproduction& row : kReproductions) {
    if (name == row.name) return RunOne(row, {std::next(arguments.begin()), arguments.end()});
    names.emplace_back(row.name);
  }
  if (arguments.empty())
    throw Error(
        Join("expected one of ", Listed(names), ", found none; usage: berth reproduce NAME [options]"));
  throw Error(Join("expected one of ", Listed(names), ", found '", name, "'", DidYouMean(name, names)));
}

}  // namespace berth
