// The file that a search is kept in (.h5, kind "search"): all that it has found out so far.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/search/search.hpp"

namespace berth::search {

struct Record {
  std::string definition;
  std::vector<double> state;  // Optimiser::State after the last generation
  std::int64_t decisions = 0;
  std::vector<int> generations;           // of the points that are kept to choose from: the start's 0 first
  std::vector<std::vector<double>> kept;  // [generations][n]
  std::vector<Told> told;                 // [generations done]
};

// Throws Error: unwritable.
void WriteRecord(const Record& record, const std::string& path);
// Throws Error: no such file, not a search, damaged, or one that did not begin as `begun` does.
Record ReadRecord(const std::string& path, const Record& begun);

}  // namespace berth::search
