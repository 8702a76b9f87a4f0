// Rows of `berth bench`: what is measured, in which unit, and what it should come to. Adding one is one entry
// in the table of its group (a file *_rows.cpp). A new group also has its line in the one list here:
// X(function that gives the rows, defined in the group's own file), in the order in which they are measured.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tools/json.hpp"

#define BERTH_BENCH_GROUPS(X) \
  X(EnvRows)                  \
  X(PythonRows)               \
  X(PolicyRows)               \
  X(StartRows)                \
  X(SimulationRows)           \
  X(SolveRows)                \
  X(SolverRows)               \
  X(WarmRows)                 \
  X(ReplayRows)               \
  X(ThreadRows)               \
  X(AuditRows)                \
  X(TrainRows)                \
  X(DeviceRows)

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

#define BERTH_DECLARE(function) std::span<const BenchRow> function();
BERTH_BENCH_GROUPS(BERTH_DECLARE)
#undef BERTH_DECLARE

std::vector<BenchRow> AllRows();

// The rows that `only` names, in the order of the list: "env/steps", or "env" for a whole group, by commas;
// all when it is empty. Throws Error with the nearest name.
std::vector<BenchRow> SelectRows(const std::string& only);

// Indices, ascending, of the names that `only` lists by commas: "env/steps", or "env" for all of a group; all
// when it is empty. Throws Error with the nearest name; `where` names the option.
std::vector<std::size_t> Choose(const std::vector<std::string>& names, const std::string& only,
                                const std::string& where);

}  // namespace berth::bench
