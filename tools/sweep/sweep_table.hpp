// The rows of a sweep: a cell's file, and the table of all cells with what is worked out of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/evaluation_table.hpp"
#include "tools/sweep/grid.hpp"

namespace berth {

// Columns that every table of a sweep has beside its axes.
std::vector<std::string> SweepColumns();

// What has run of one cell. Of the runs there are metrics, decisions and signatures, without any time that a
// decision took: another run would not repeat it.
struct SweptCell {
  std::int64_t cell = 0;
  std::vector<std::int64_t> seeds;  // [runs of a row]
  std::vector<ResultRow> rows;      // a scheduler each
  std::vector<bool> off;  // [MetricFields] of a feature, or of deadlines, that the cell does not have
};

// A line a scheduler and seed: cell, axes, scheduler, seed, jobs, unfinished, decisions, signature, and every
// figure under its key; empty = NaN or off. Whole or not there.
std::string CellText(const Grid& grid, const SweptCell& cell);
void WriteCell(const Grid& grid, const SweptCell& cell, const std::string& path);
// Throws Error for another table.
SweptCell ReadCell(const Grid& grid, std::int64_t cell, const std::string& path);
SweptCell Swept(std::int64_t cell, const EvaluationPlan& plan, std::vector<ResultRow> rows);

// A cell under one scheduler, over all seeds.
struct SweptRow {
  std::int64_t cell;
  Summary summary;
  std::vector<Interval> shown;  // [SweepTable::shown] without bounds where there are none
};

struct SweepTable {
  Grid grid;
  std::vector<SweptCell> cells;       // all
  std::vector<MetricColumn> figures;  // but for the mean JCT, those that a cell has
  std::vector<MetricColumn> shown;    // of these what tables for people show
  std::vector<SweptRow> rows;
};
// `metrics` as evaluate's --metrics; "" = the usual ones and those of features. Works on so many threads.
SweepTable MakeTable(const Grid& grid, std::vector<SweptCell> cells, const std::string& metrics, int threads);

}  // namespace berth
