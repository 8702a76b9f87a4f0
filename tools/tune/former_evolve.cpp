// What was `berth evolve` is `berth tune --hinges`; some options have other names there.
#include <algorithm>

#include "env/base/check.hpp"
#include "tools/next_steps.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr struct {
  const char *was, *is;
} kRenamed[] = {{"jobs", "pieces"}, {"pieces", "workloads"}, {"piece", "jobs"}, {"validate", "held-out"}};
// Options whose default was another one: what `evolve` did without them is spelled out.
constexpr struct {
  const char *name, *value;
} kDefaults[] = {{"hinges", "0"}, {"generations", "60"}, {"seconds", "0"}};

std::string Renamed(const std::string& name) {
  for (const auto& [was, is] : kRenamed) {
    if (name == was) return is;
  }
  return name;
}

// "name=value" with its new name, the name alone where there is no value.
std::string RenamedAssignment(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  return Renamed(text.substr(0, equals)) + text.substr(equals);
}

}  // namespace

void RefuseEvolve(const std::vector<std::string>& arguments) {
  std::string line;
  bool assigns = false, config = false;
  std::string names = "\n";
  for (const std::string& word : arguments) {
    const bool option = word.rfind("--", 0) == 0;
    const std::string now = option    ? "--" + RenamedAssignment(word.substr(2))
                            : assigns ? RenamedAssignment(word)
                                      : word;
    assigns = word == "--set";
    config = config || word.rfind("--config", 0) == 0;
    names += (option ? now.substr(2, now.find('=') - 2) : now.substr(0, now.find('='))) + "\n";
    line += " " + ForShell(now);
  }
  for (const auto& [name, value] : kDefaults) {
    if (names.find(Join("\n", name, "\n")) == std::string::npos) line += Join(" --", name, " ", value);
  }
  std::string in_config;
  for (const auto& [was, is] : kRenamed)
    in_config += Join(in_config.empty() ? " (in its --config rename " : ", ", was, " to ", is);
  throw Error(Join("it is part of tune now, type: ", CommandName(), " tune", line,
                   config ? in_config + ")" : std::string()));
}

}  // namespace berth
