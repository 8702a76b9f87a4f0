// A feature's settings, each declared once: its name, where it is kept, what it may be, what it means. The
// command line, scenario files, the scenario's hash, validation and `berth list features` all read this
// table.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace berth {

template <class S>
struct Field {
  const char* name;
  // A list is written a:b:c.
  std::variant<double S::*, int S::*, bool S::*, std::string S::*, std::vector<double> S::*> member;
  const char* help;     // meaning and unit
  double lowest = 0.0;  // of numbers, each of a list's too; inclusive
  double highest = std::numeric_limits<double>::max();
};

// The same for those who do not know S.
struct FieldInfo {
  const char* name;
  const char* help;
  double lowest, highest;
};
using FieldValue = std::variant<double, int, bool, std::string, std::vector<double>>;

// Of a setting with one entry for each of several, or one for all.
inline double EntryFor(const std::vector<double>& list, int i) {
  return list[list.size() == 1 ? 0 : static_cast<std::size_t>(i)];
}

}  // namespace berth
