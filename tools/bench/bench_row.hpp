// One row of `berth bench`: what is measured, in which unit, and what it should come to. Adding one is one
// entry in the table of its group (a file *_rows.cpp); a new group also has its line in bench_rows.hpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tools/json.hpp"

namespace berth::bench {

// What the command line says of all rows.
struct BenchSetup {
  double seconds = 1.0;   // CPU time of one repeat, where a row can choose how long it works
  int repeats = 5;        // of rows that take seconds; those that take minutes are measured once
  std::string binary;     // this program, for rows that start it
  std::string traces;     // folder of public traces (philly/, rlscheduler-lublin/, ...)
  std::string reference;  // folder of the reference's traces and records (sim/, golden/)
};

// Thrown by a row that cannot be measured here; the report names the row and this reason.
struct CannotRun : Error {
  using Error::Error;
};

struct Measured {
  std::vector<double> values;    // one a repeat, in the row's unit; at least one
  std::string note;              // what a reader of the value must know, or ""
  Json detail = Json::object();  // further figures, for the JSON
};

enum class Bound { kNone, kAtLeast, kAtMost };

struct BenchRow {
  const char* name;  // "group/row"
  const char* what;
  const char* unit;
  Bound bound = Bound::kNone;
  double target = 0.0;      // of the median
  double memory_gib = 0.0;  // at most, of the whole process at its peak; 0 = no target
  Measured (*measure)(const BenchSetup& setup) = nullptr;
};

}  // namespace berth::bench
