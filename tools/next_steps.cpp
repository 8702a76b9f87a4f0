#include "tools/next_steps.hpp"

#include "env/base/check.hpp"
#include "tools/version.hpp"

namespace berth {

std::string ForShell(const std::string& word) {
  constexpr const char* kBare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string SameJobs(const Options& options) {
  std::string words;
  for (const char* name : {"scenario", "format", "workload", "cluster", "clock", "knowledge", "sigma",
                           "checkpoint-cost", "restore-cost", "migration-cost", "features"}) {
    if (options.Given(name)) words += Join(" --", name, " ", ForShell(options.Text(name)));
  }
  return words;
}

std::string NextStep(const std::string& meaning, const std::string& words) {
  return Join("next, ", meaning, ":\n  ", CommandName(), " ", words, "\n");
}

}  // namespace berth
