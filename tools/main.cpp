// berth VERB ...: the dispatch table and the one place that catches errors.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/sim/auditor.hpp"
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

constexpr int kNotHeld = 1, kBadInput = 2;

void PrintHelp() {
  std::cout << "Berth trains and compares schedulers for heterogeneous GPU clusters.\n\n"
               "usage: berth VERB [options]      berth VERB --help shows a verb's options\n\n";
  for (const Verb& verb : kVerbs) std::printf("  %-10s %s\n", verb.name, verb.summary);
  std::cout << "\n--config FILE (INI), --set key=value and --json FILE work with every verb; ranges A:B are "
               "half open.\n"
               "Exit codes: 0 done, 1 a check or comparison did not hold, 2 bad input, 130 interrupted with "
               "state saved.\n";
}

// What a newcomer types first, one after the other.
void PrintFirstHour() {
  const std::string berth = CommandName();
  std::cout << "Berth trains and compares schedulers for heterogeneous GPU clusters. A first hour:\n\n";
  const std::pair<std::string, const char*> kSteps[] = {
      {"evaluate", "compare six schedulers on the default cluster and jobs"},
      {"train --out run", "train a policy there"},
      {"export run --out policy.h5", "make it a file that any program can run"},
      {"evaluate --schedulers 'fcfs;srpt;policy(file=policy.h5)' --report page",
       "what it is worth; page/index.html shows it"},
      {"convert --format swf log.swf --cluster v100=16 --out mine.h5",
       "then the same on a log of your own: --scenario mine.h5"},
  };
  for (const auto& [words, meaning] : kSteps)
    std::cout << "  " << berth << " " << words << "\n      " << meaning << "\n";
  std::cout << "\n'" << berth << " --help' lists every verb, '" << berth << " VERB --help' its options.\n";
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
  if (words.empty()) {
    PrintFirstHour();
    return kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    PrintHelp();
    return 0;
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
  } catch (const AuditFailure& error) {
    std::cout.flush();
    std::cerr << "berth " << words[0] << ": " << error.what()
              << "; this is a fault of Berth: please report it with the command" << std::endl;
    return kNotHeld;
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
