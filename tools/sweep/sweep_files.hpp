// What a sweep that is complete leaves: tables for people and for programs (tools/FORMATS.md).
#pragma once

#include <string>

#include "tools/json.hpp"
#include "tools/sweep/pareto.hpp"
#include "tools/sweep/sweep_table.hpp"

namespace berth {

inline constexpr const char* kSweepKind = "sweep";
inline constexpr int kSweepVersion = 1;

// table.csv: a line a cell, scheduler and seed. summary.csv: a line a cell and scheduler, with intervals.
std::string TableCsv(const SweepTable& table);
std::string SummaryCsv(const SweepTable& table);

// table.h5, of kind "sweep"; R lines of table.csv, L of summary.csv:
//   attributes     config (sweep.ini), source_commit
//   axis_names     [axes]; axes/NAME [R] texts; axis_numbers/NAME [R] where all values are finite numbers
//   cell, seed, jobs, unfinished, decisions, signatures, scheduler   [R]
//   metrics/KEY    [R] as in the JSON of evaluate; NaN = none, or of a feature that is off
//   summary/cell, summary/scheduler, summary/unstable, summary/unfinished, summary/axes/NAME   [L]
//   summary/metrics/KEY [L] over all seeds
//   summary/ratio  [L, 3] mean, low, high, of the mean JCT to the cell's first scheduler
//   summary/low/KEY, summary/high/KEY [L] of the mean JCT and of what tables show
//   shown/{keys, titles, units} of what tables show, the mean JCT first
//   front/rows     lines of the summary on the Pareto front, where one was asked for and has any
//   front/{keys, titles, units} [2] of its figures
void WriteSweepFile(const SweepTable& table, const ParetoFront* front, const std::string& config,
                    const std::string& path);

Json SweepJson(const SweepTable& table, const ParetoFront* front);

// On standard output; of long tables the first lines.
void PrintSweep(const SweepTable& table, const std::string& rest);
void PrintFront(const SweepTable& table, const ParetoFront& front);

}  // namespace berth
