// What verbs end with: the commands that a user may type next.
#pragma once

#include <string>

#include "tools/options.hpp"

namespace berth {

std::string ForShell(const std::string& word);  // in quotes where a shell needs them

// Of options that AddScenarioOptions declared those that were given, as words of a command: " --scenario a.h5
// --knowledge blind", or nothing.
std::string SameJobs(const Options& options);

// "next, MEANING:\n  berth WORDS\n".
std::string NextStep(const std::string& meaning, const std::string& words);

}  // namespace berth
