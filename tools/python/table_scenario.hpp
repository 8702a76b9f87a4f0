// A table from Python as a scenario file: what `berth convert --format table` does, by keywords.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth {

struct WrittenScenario {
  int jobs = 0;
  std::vector<std::string> notes;    // what was understood, a line each
  std::vector<std::string> refused;  // rows that are left out, as JobTableScenario has them
};

// Keywords are the command line's options of a scenario's settings, and columns, throughputs (a file),
// skip_bad. Throws Error naming the keyword, or "csv:line: column ...". Thread rule: any thread.
WrittenScenario WriteTableScenario(const std::string& csv, const std::string& out,
                                   const std::map<std::string, std::string>& keywords);

}  // namespace berth
