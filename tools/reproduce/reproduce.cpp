// berth reproduce NAME: reruns published experiments and puts published and measured side by side.
#include <iostream>
#include <iterator>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/studies/studies.hpp"

namespace berth {
namespace {

struct Reproduction {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
  const char* summary;
};

#define BERTH_ROW(name, function, summary) {name, function, summary},
constexpr Reproduction kReproductions[] = {BERTH_REPRODUCTIONS(BERTH_ROW)};
#undef BERTH_ROW

}  // namespace

int Reproduce(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "--help" || name == "--help-all" || name == "-h") {
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
    if (name == row.name) return row.run({std::next(arguments.begin()), arguments.end()});
    names.emplace_back(row.name);
  }
  throw Error(Join("expected one of ", Listed(names), ", found '", name, "'", DidYouMean(name, names)));
}

}  // namespace berth
