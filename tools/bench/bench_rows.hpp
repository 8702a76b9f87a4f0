// The one list of groups of rows: X(function that gives the rows, defined in the group's own file), in the
// order in which they are measured.
#pragma once

#include <span>

#include "tools/bench/bench_row.hpp"

#define BERTH_BENCH_GROUPS(X) \
  X(EnvRows)                  \
  X(PythonRows)               \
  X(PolicyRows)               \
  X(StartRows)                \
  X(SimulationRows)           \
  X(SolveRows)                \
  X(ReplayRows)               \
  X(ThreadRows)               \
  X(TrainRows)                \
  X(DeviceRows)

namespace berth::bench {

#define BERTH_DECLARE(function) std::span<const BenchRow> function();
BERTH_BENCH_GROUPS(BERTH_DECLARE)
#undef BERTH_DECLARE

std::vector<BenchRow> AllRows();

// The rows that `only` names, in the order of the list: "env/steps", or "env" for a whole group, by commas;
// all when it is empty. Throws Error with the nearest name.
std::vector<BenchRow> SelectRows(const std::string& only);

}  // namespace berth::bench
