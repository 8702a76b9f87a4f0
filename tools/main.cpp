// berth VERB ...: the dispatch table and the one place that catches errors.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
  const char* summary;
};

#define BERTH_VERB_ROW(name, function, summary) {name, function, summary},
constexpr Verb kVerbs[] = {BERTH_VERBS(BERTH_VERB_ROW)};
#undef BERTH_VERB_ROW

constexpr int kBadInput = 2;

void PrintHelp() {
  std::cout << "Berth trains and compares schedulers for heterogeneous GPU clusters.\n\n"
               "usage: berth VERB [options]      berth VERB --help shows a verb's options\n\n";
  for (const Verb& verb : kVerbs) std::printf("  %-10s %s\n", verb.name, verb.summary);
  std::cout << "\n--config FILE (INI), --set key=value and --json FILE work with every verb; ranges A:B are "
               "half open.\n"
               "Exit codes: 0 done, 1 a check or comparison did not hold, 2 bad input, 130 interrupted with "
               "state saved.\n";
}

int Dispatch(const std::string& name, const std::vector<std::string>& arguments) {
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return verb.run(arguments);
  }
  if (name == "evolve") RefuseEvolve(arguments);
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  throw Error(Join("unknown verb", DidYouMean(name, names), "; 'berth --help' lists them"));
}

int Main(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    PrintHelp();
    return words.empty() ? kBadInput : 0;
  }
  if (words[0] == "--version") {
    std::cout << "berth " << Version() << " (" << SourceCommit() << ")\n";
    return 0;
  }
  try {
    h5::SetSourceCommit(SourceCommit());
    const int code = Dispatch(words[0], {std::next(words.begin()), words.end()});
    std::cout.flush();
    if (!std::cout) throw Error("standard output: cannot write");
    return code;
  } catch (const std::bad_alloc&) {
    std::cerr << "berth " << words[0] << ": out of memory; fewer or smaller workloads may help" << std::endl;
    return kBadInput;
  } catch (const std::exception& error) {  // Error, and what the standard library says of files and memory
    std::cout.flush();
    std::cerr << "berth " << words[0] << ": " << error.what() << std::endl;
    return kBadInput;
  }
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::Main({argv + 1, argv + argc});
}
