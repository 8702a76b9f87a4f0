#include "tools/sweep/sweep_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/base/thread_team.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char *kCell = "cell", *kScheduler = "scheduler", *kSeed = "seed", *kJobs = "jobs",
                     *kUnfinished = "unfinished", *kDecisions = "decisions", *kSignature = "signature";

std::vector<std::string> Header(const Grid& grid) {
  std::vector<std::string> header = {kCell};
  for (const std::string& name : grid.names()) header.push_back(name);
  for (const char* name : {kScheduler, kSeed, kJobs, kUnfinished, kDecisions, kSignature})
    header.emplace_back(name);
  for (const MetricField& field : MetricFields()) header.emplace_back(field.key);
  return header;
}

double NumberOrNan(const CsvFile& file, const std::string& name) {
  const std::string& text = file.Text(name);
  return text.empty() ? kNaN : ParseNumber(text, file.Where(name));
}

std::int64_t Whole(const CsvFile& file, const std::string& name) {
  return ParseInteger(file.Text(name), file.Where(name));
}

std::uint64_t Signature(const CsvFile& file) {
  const std::string& text = file.Text(kSignature);
  char* end = nullptr;
  const std::uint64_t signature = std::strtoull(text.c_str(), &end, 16);
  if (text.empty() || *end != '\0')
    throw Error(Join(file.Where(kSignature), ": expected 16 digits, found '", text, "'"));
  return signature;
}

// The others every cell has, also where their value is none.
bool OfSomeCells(const MetricField& field) {
  return field.member == nullptr || field.member == &Metrics::deadline_miss_rate;
}

// What was asked for, or the usual columns and those of what some cell has.
std::vector<MetricColumn> Shown(const std::string& metrics, const std::vector<MetricColumn>& figures) {
  std::vector<MetricColumn> shown = MetricColumns(metrics.empty() ? UsualMetrics({}) : metrics, {});
  for (const MetricColumn& figure : figures) {
    if (OfSomeCells(*figure.field) && metrics.empty())
      shown.push_back(MetricColumns(figure.field->key, {}).front());
  }
  for (MetricColumn& column : shown) column.off = false;  // a cell's is: SweptCell::off
  return shown;
}

}  // namespace

std::vector<std::string> SweepColumns() {
  std::vector<std::string> columns = {kCell, kScheduler, kSeed, kJobs, kUnfinished, kDecisions, kSignature};
  for (const MetricField& field : MetricFields()) columns.emplace_back(field.key);
  for (const std::string& name : SummaryHeader({})) columns.push_back(name);
  return columns;
}

SweptCell Swept(std::int64_t cell, const EvaluationPlan& plan, std::vector<ResultRow> rows) {
  SweptCell swept{cell, plan.seeds, std::move(rows), {}};
  for (const MetricField& field : MetricFields()) {
    const std::vector<MetricColumn> column = MetricColumns(field.key, plan.workloads);
    swept.off.push_back(!column.empty() && column.front().off);  // the mean JCT is no column
  }
  return swept;
}

std::string CellText(const Grid& grid, const SweptCell& cell) {
  std::string text = CsvLine(Header(grid));
  const std::vector<std::string> values = grid.Values(cell.cell);
  for (const ResultRow& row : cell.rows) {
    for (std::size_t i = 0; i < row.runs.size(); ++i) {
      const RunResult& run = row.runs[i];
      std::vector<std::string> line = {std::to_string(cell.cell)};
      line.insert(line.end(), values.begin(), values.end());
      for (const std::string& text_of :
           {row.scheduler, std::to_string(cell.seeds[i]), std::to_string(run.metrics.jobs),
            std::to_string(run.metrics.unfinished), std::to_string(run.decisions),
            HexSignature(run.signature)})
        line.push_back(text_of);
      std::size_t column = 0;
      for (const auto& [key, value] : Figures(run.metrics))
        line.push_back(cell.off[column++] ? "" : ExactCell(value));
      text += CsvLine(line);
    }
  }
  return text;
}

void WriteCell(const Grid& grid, const SweptCell& cell, const std::string& path) {
  WriteTextFile(path, CellText(grid, cell));
}

SweptCell ReadCell(const Grid& grid, std::int64_t cell, const std::string& path) {
  CsvFile file(path);
  if (file.names() != Header(grid))
    throw Error(Join(path, ": expected the columns of a cell of this sweep, found others"));
  const std::vector<std::string> values = grid.Values(cell);
  SweptCell swept;
  swept.cell = cell;
  for (const MetricField& field : MetricFields()) swept.off.push_back(OfSomeCells(field));
  while (file.Next()) {
    if (Whole(file, kCell) != cell)
      throw Error(Join(file.Where(kCell), ": expected ", cell, ", found ", file.Text(kCell)));
    for (std::size_t axis = 0; axis < values.size(); ++axis) {
      const std::string& name = grid.axes()[axis].name;
      if (file.Text(name) != values[axis])
        throw Error(Join(file.Where(name), ": expected ", values[axis], ", found ", file.Text(name)));
    }
    const std::string& scheduler = file.Text(kScheduler);
    const std::int64_t seed = Whole(file, kSeed);
    if (swept.rows.empty() || swept.rows.back().scheduler != scheduler || seed == swept.seeds.front())
      swept.rows.push_back({scheduler, {}, {}});
    RunResult& run = swept.rows.back().runs.emplace_back();
    if (swept.rows.size() == 1) swept.seeds.push_back(seed);
    run.metrics.jobs = static_cast<decltype(run.metrics.jobs)>(Whole(file, kJobs));
    run.metrics.unfinished = static_cast<decltype(run.metrics.unfinished)>(Whole(file, kUnfinished));
    run.decisions = Whole(file, kDecisions);
    run.signature = Signature(file);
    for (std::size_t i = 0; i < swept.off.size(); ++i) {
      const MetricField& field = MetricFields()[i];
      const double value = NumberOrNan(file, field.key);
      if (!file.Text(field.key).empty()) swept.off[i] = false;
      field.Set(run.metrics, value);
    }
  }
  for (const ResultRow& row : swept.rows) {
    if (row.runs.size() != swept.seeds.size())
      throw Error(Join(path, ": expected ", swept.seeds.size(), " seeds of ", row.scheduler, ", found ",
                       row.runs.size()));
  }
  return swept;
}

SweepTable MakeTable(const Grid& grid, std::vector<SweptCell> cells, const std::string& metrics,
                     int threads) {
  SweepTable table{grid, std::move(cells), {}, {}, {}};
  for (std::size_t i = 1; i < MetricFields().size(); ++i) {
    const bool any = std::any_of(table.cells.begin(), table.cells.end(),
                                 [i](const SweptCell& cell) { return !cell.off[i]; });
    if (any) table.figures.push_back({&MetricFields()[i], MetricFields()[i].key});
  }
  table.shown = Shown(metrics, table.figures);
  std::vector<std::vector<SweptRow>> rows(table.cells.size());
  ThreadTeam team(threads);
  team.Run(static_cast<int>(rows.size()), [&](int part) {
    const SweptCell& cell = table.cells[U(part)];
    for (Summary& summary : Summaries(cell.rows)) {
      SweptRow row{cell.cell, std::move(summary), {}};
      for (const MetricColumn& column : table.shown)
        row.shown.push_back(
            MetricInterval(*row.summary.row, *column.field, column.field->Get(row.summary.metrics)));
      rows[U(part)].push_back(std::move(row));
    }
  });
  for (std::vector<SweptRow>& of_cell : rows)
    table.rows.insert(table.rows.end(), std::make_move_iterator(of_cell.begin()),
                      std::make_move_iterator(of_cell.end()));
  return table;
}

}  // namespace berth
