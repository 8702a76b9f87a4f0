#include "tools/sweep/sweep_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>

#include "data/csv_file.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostPrinted = 60;  // lines

double Mean(const SweptRow& row, const MetricColumn& column) {
  return column.field->Get(row.summary.metrics);
}

bool IsOff(const SweepTable& table, std::int64_t cell, const MetricField& field) {
  const auto i = static_cast<std::size_t>(&field - MetricFields().data());
  return table.cells[static_cast<std::size_t>(cell)].off[i];
}

// Of all values of the axis, or of none. `inf` has no place among numbers in a picture.
std::optional<double> NumberOf(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (text.empty() || !whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool AllNumbers(const Axis& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& value) { return NumberOf(value).has_value(); });
}

// Each run with its cell, row and seed, in the order of the table.
template <class Visit>
void EachRun(const SweepTable& table, const Visit& visit) {
  for (const SweptCell& cell : table.cells) {
    for (const ResultRow& row : cell.rows) {
      for (std::size_t i = 0; i < row.runs.size(); ++i) visit(cell, row, i);
    }
  }
}

std::vector<std::string> FirstCells(const SweepTable& table, const SweptRow& row) {
  std::vector<std::string> cells = table.grid.Values(row.cell);
  cells.push_back(row.summary.row->scheduler);
  return cells;
}

}  // namespace

std::string TableCsv(const SweepTable& table) {
  std::vector<std::string> header = {"cell"};
  for (const std::string& name : table.grid.names()) header.push_back(name);
  for (const char* name : {"scheduler", "seed", "jobs", "unfinished", "decisions", "signature", "mean_jct_s"})
    header.emplace_back(name);
  for (const MetricColumn& column : table.figures) header.emplace_back(column.field->key);
  std::string text = CsvLine(header);
  EachRun(table, [&](const SweptCell& cell, const ResultRow& row, std::size_t i) {
    const RunResult& run = row.runs[i];
    std::vector<std::string> line = {std::to_string(cell.cell)};
    for (const std::string& value : table.grid.Values(cell.cell)) line.push_back(value);
    line.insert(line.end(), {row.scheduler, std::to_string(cell.seeds[i]), std::to_string(run.metrics.jobs),
                             std::to_string(run.metrics.unfinished), std::to_string(run.decisions),
                             HexSignature(run.signature)});
    const auto figure = [&](const MetricField& field) { line.push_back(ExactCell(Values(row, field)[i])); };
    figure(MetricFields().front());
    for (const MetricColumn& column : table.figures) figure(*column.field);
    text += CsvLine(line);
  });
  return text;
}

std::string SummaryCsv(const SweepTable& table) {
  std::vector<std::string> header = {"cell"};
  for (const std::string& name : table.grid.names()) header.push_back(name);
  for (const std::string& name : SummaryHeader(table.figures)) header.push_back(name);
  for (const MetricColumn& column : table.shown)
    header.insert(header.end(), {Join(column.field->key, "_low"), Join(column.field->key, "_high")});
  std::string text = CsvLine(header);
  for (const SweptRow& row : table.rows) {
    std::vector<MetricColumn> figures = table.figures;
    for (MetricColumn& column : figures) column.off = IsOff(table, row.cell, *column.field);
    std::vector<std::string> line = {std::to_string(row.cell)};
    for (const std::string& value : table.grid.Values(row.cell)) line.push_back(value);
    for (const std::string& cell : SummaryCells(row.summary, figures)) line.push_back(cell);
    for (const Interval& interval : row.shown)
      line.insert(line.end(), {ExactCell(interval.low), ExactCell(interval.high)});
    text += CsvLine(line);
  }
  return text;
}

void WriteSweepFile(const SweepTable& table, const ParetoFront* front, const std::string& config,
                    const std::string& path) {
  h5::Writer out(path, kSweepKind, kSweepVersion);
  out.Compress();
  out.Text("config", config);
  out.Strings("axis_names", table.grid.names());
  std::vector<std::int64_t> cells, seeds, jobs, unfinished, decisions;
  std::vector<std::uint64_t> signatures;
  std::vector<std::string> schedulers;
  EachRun(table, [&](const SweptCell& cell, const ResultRow& row, std::size_t i) {
    cells.push_back(cell.cell), seeds.push_back(cell.seeds[i]), schedulers.push_back(row.scheduler);
    jobs.push_back(row.runs[i].metrics.jobs), unfinished.push_back(row.runs[i].metrics.unfinished);
    decisions.push_back(row.runs[i].decisions), signatures.push_back(row.runs[i].signature);
  });
  out.Array("cell", cells);
  out.Array("seed", seeds);
  out.Array("jobs", jobs);
  out.Array("unfinished", unfinished);
  out.Array("decisions", decisions);
  out.Array("signatures", signatures);
  out.Strings("scheduler", schedulers);
  const std::vector<std::int64_t> of_lines = ColumnOf(table.rows, &SweptRow::cell);
  for (std::size_t a = 0; a < table.grid.axes().size(); ++a) {
    const Axis& axis = table.grid.axes()[a];
    const auto texts = [&](const std::vector<std::int64_t>& at) {
      std::vector<std::string> values;
      for (const std::int64_t cell : at) values.push_back(table.grid.Values(cell)[a]);
      return values;
    };
    out.Strings("axes/" + axis.name, texts(cells));
    out.Strings("summary/axes/" + axis.name, texts(of_lines));
    if (!AllNumbers(axis)) continue;
    std::vector<double> numbers;
    for (const std::string& value : texts(cells)) numbers.push_back(*NumberOf(value));
    out.Array("axis_numbers/" + axis.name, numbers);
  }
  std::vector<MetricColumn> figures = table.figures, shown = table.shown;
  const MetricColumn mean_jct = NamedMetric("jct");
  figures.insert(figures.begin(), mean_jct);
  for (const MetricColumn& column : figures) {
    std::vector<double> values, means;
    EachRun(table, [&](const SweptCell&, const ResultRow& row, std::size_t i) {
      values.push_back(Values(row, *column.field)[i]);
    });
    for (const SweptRow& row : table.rows)
      means.push_back(IsOff(table, row.cell, *column.field) ? kNaN : Mean(row, column));
    out.Array(Join("metrics/", column.field->key), values);
    out.Array(Join("summary/metrics/", column.field->key), means);
  }
  out.Array("summary/cell", of_lines);
  std::vector<std::string> names;
  std::vector<std::uint8_t> unstable;
  std::vector<std::int64_t> lost;
  std::vector<double> ratio, low, high;
  for (const SweptRow& row : table.rows) {
    names.push_back(row.summary.row->scheduler), unstable.push_back(row.summary.unstable);
    lost.push_back(row.summary.metrics.unfinished);
    ratio.insert(ratio.end(), {row.summary.ratio.mean, row.summary.ratio.low, row.summary.ratio.high});
    low.push_back(row.summary.mean.low), high.push_back(row.summary.mean.high);
  }
  out.Strings("summary/scheduler", names);
  out.Array("summary/unstable", unstable);
  out.Array("summary/unfinished", lost);
  out.Array("summary/ratio", ratio, {std::ssize(table.rows), 3});
  out.Array("summary/low/mean_jct_s", low);
  out.Array("summary/high/mean_jct_s", high);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    low.clear(), high.clear();
    for (const SweptRow& row : table.rows) low.push_back(row.shown[k].low), high.push_back(row.shown[k].high);
    out.Array(Join("summary/low/", shown[k].field->key), low);
    out.Array(Join("summary/high/", shown[k].field->key), high);
  }
  shown.insert(shown.begin(), mean_jct);
  std::erase_if(shown, [&](const MetricColumn& column) {  // asked for, and no cell has it
    return std::none_of(figures.begin(), figures.end(),
                        [&](const MetricColumn& f) { return f.field == column.field; });
  });
  std::vector<std::string> keys;
  for (const MetricColumn& column : shown) keys.emplace_back(column.field->key);
  out.Strings("shown/keys", keys);
  out.Strings("shown/titles", ColumnOf(shown, &MetricColumn::title));
  out.Array("shown/units", ColumnOf(shown, &MetricColumn::unit));
  if (front != nullptr && !front->rows.empty()) {
    const std::vector<MetricColumn> both = {front->first, front->second};
    keys.clear();
    for (const MetricColumn& column : both) keys.emplace_back(column.field->key);
    out.Array("front/rows", std::vector<std::int64_t>(front->rows.begin(), front->rows.end()));
    out.Strings("front/keys", keys);
    out.Strings("front/titles", ColumnOf(both, &MetricColumn::title));
    out.Array("front/units", ColumnOf(both, &MetricColumn::unit));
  }
  out.Commit();
}

Json SweepJson(const SweepTable& table, const ParetoFront* front) {
  Json json;
  json["axes"] = Json::object();
  for (const Axis& axis : table.grid.axes()) json["axes"][axis.name] = axis.values;
  json["rows"] = Json::array();
  for (const SweptRow& row : table.rows) {
    const Summary& summary = row.summary;
    Json line;
    line["cell"] = row.cell;
    const std::vector<std::string> values = table.grid.Values(row.cell);
    for (std::size_t a = 0; a < values.size(); ++a) line[table.grid.axes()[a].name] = values[a];
    line["scheduler"] = summary.row->scheduler;
    line["jobs"] = summary.metrics.jobs;
    line["unfinished"] = summary.metrics.unfinished;
    line["unstable"] = summary.unstable;
    line["mean_jct_ci95_s"] = nullptr;  // as evaluate has them of one workload
    line["jct_ratio"] = nullptr;
    if (summary.row->runs.size() > 1) {
      line["mean_jct_ci95_s"] = {summary.mean.low, summary.mean.high};
      line["jct_ratio"] = {
          {"mean", summary.ratio.mean}, {"low", summary.ratio.low}, {"high", summary.ratio.high}};
    }
    line["mean_jct_s"] = summary.metrics.mean_jct_s;
    for (const MetricColumn& column : table.figures)
      line[column.field->key] =
          IsOff(table, row.cell, *column.field) ? Json() : FigureJson(*column.field, Mean(row, column));
    json["rows"].push_back(line);
  }
  if (front == nullptr) return json;
  json["pareto"] = {{"figures", {front->first.field->key, front->second.field->key}}, {"rows", front->rows}};
  return json;
}

void PrintSweep(const SweepTable& table, const std::string& rest) {
  const bool one = table.cells.front().seeds.size() < 2;
  std::vector<std::string> header = table.grid.names();
  header.emplace_back("scheduler");
  for (const char* title : {"mean JCT h", "ratio"}) header.push_back(Join(title, one ? "" : " [95%]"));
  for (const MetricColumn& column : table.shown) header.push_back(column.title);
  Table text(header);
  const std::size_t printed = std::min(kMostPrinted, table.rows.size());
  for (std::size_t i = 0; i < printed; ++i) {
    const SweptRow& row = table.rows[i];
    std::vector<std::string> cells = FirstCells(table, row);
    cells.push_back(WithInterval(row.summary.mean, 3600.0, 2) + (row.summary.unstable ? "†" : ""));
    cells.push_back(WithInterval(row.summary.ratio, 1.0, 3));
    for (const MetricColumn& column : table.shown)
      cells.push_back(IsOff(table, row.cell, *column.field) ? "-" : column.Cell(row.summary.metrics));
    text.AddRow(cells);
  }
  std::cout << text.ToString();
  if (printed < table.rows.size())
    std::cout << "... and " << table.rows.size() - printed << " more rows in " << rest << "\n";
  PrintMarks(table.rows, &SweptRow::summary);
  for (std::size_t i = 0; i < printed; ++i) {
    const SweptRow& row = table.rows[i];
    PrintUnfinished(Join(table.grid.Label(row.cell), ", ", row.summary.row->scheduler), row.summary.metrics);
  }
}

void PrintFront(const SweepTable& table, const ParetoFront& front) {
  std::cout << "\nPareto front of " << front.first.title << " and " << front.second.title
            << ", rows that no other beats in both:\n";
  const bool left_out = front.lost_jobs + front.unstable > 0;
  if (front.rows.empty()) std::cout << (left_out ? "no row is left\n" : "no row has both figures\n");
  std::vector<std::string> header = table.grid.names();
  for (const std::string& title : {std::string("scheduler"), front.first.title, front.second.title})
    header.push_back(title);
  Table text(header);
  for (const std::size_t i : front.rows) {
    const SweptRow& row = table.rows[i];
    std::vector<std::string> cells = FirstCells(table, row);
    cells.push_back(front.first.Cell(row.summary.metrics));
    cells.push_back(front.second.Cell(row.summary.metrics));
    text.AddRow(cells);
  }
  if (!front.rows.empty()) std::cout << text.ToString();
  if (left_out) {
    std::cout << "left out: " << Counted(front.lost_jobs, "row") << " that lost jobs, " << front.unstable
              << " where the cluster does not keep up\n";
  }
}

}  // namespace berth
