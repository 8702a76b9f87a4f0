#include "tools/evaluation_table.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void PrintTable(const std::vector<Summary>& rows, bool one, const std::vector<MetricColumn>& columns) {
  std::vector<std::string> header = {"scheduler", "knowledge", one ? "mean JCT h" : "mean JCT h [95%]",
                                     one ? "ratio" : "ratio [95%]"};
  for (const MetricColumn& column : columns) header.push_back(column.title);
  header.push_back("decision us");
  Table table(header);
  for (const Summary& row : rows) {
    std::vector<std::string> cells = {row.row->scheduler, ToString(row.row->knowledge),
                                      WithInterval(row.mean, 3600.0, 2) + (row.unstable ? "†" : ""),
                                      WithInterval(row.ratio, 1.0, 3)};
    for (const MetricColumn& column : columns) cells.push_back(column.Cell(row.metrics));
    cells.push_back(Fixed(row.row->DecisionMicroseconds(), 2));
    table.AddRow(cells);
  }
  std::cout << table.ToString();
  PrintMarks(rows);
}

// The row to look at first: the least mean of those that lost no job, and that keep up where any does, since
// the others' means say how long the run was.
void PrintBest(const std::vector<Summary>& rows) {
  const auto unstable = std::ranges::count_if(rows, &Summary::unstable);
  const bool none_keeps_up = unstable == std::ssize(rows);
  const Summary* best = nullptr;
  for (const Summary& row : rows) {
    if (row.metrics.unfinished > 0 || std::isnan(row.metrics.mean_jct_s)) continue;
    if (row.unstable && !none_keeps_up) continue;
    if (best == nullptr || row.metrics.mean_jct_s < best->metrics.mean_jct_s) best = &row;
  }
  if (best == nullptr || rows.size() < 2) return;
  std::cout << "least mean JCT" << (unstable > 0 && !none_keeps_up ? " of those that keep up" : "") << ": "
            << best->row->scheduler << " with " << Fixed(best->metrics.mean_jct_s / 3600.0, 2) << " h";
  if (none_keeps_up) {
    std::cout << ", but even under it work arrives faster than it is finished: compare with fewer jobs or "
                 "more GPUs";
  } else if (rows[0].unstable) {
    std::cout << "; under " << rows[0].row->scheduler << " work arrives faster than it is finished";
  } else if (best != &rows[0]) {
    std::cout << ", " << Fixed(best->metrics.mean_jct_s / rows[0].metrics.mean_jct_s, 3) << " of "
              << rows[0].row->scheduler << "'s";
  }
  std::cout << "\n";
}

}  // namespace

std::vector<Summary> Summaries(const std::vector<ResultRow>& rows) {
  std::vector<Summary> summaries;
  for (const ResultRow& row : rows) {
    Summary summary{&row, row.Combined(), row.Unstable(), {}, {}};
    if (row.runs.size() > 1) {
      summary.mean = MeanJctInterval(row), summary.ratio = JctRatio(row, rows[0]);
    } else {
      const Metrics& first = summaries.empty() ? summary.metrics : summaries[0].metrics;
      summary.mean = {0.0, kNaN, kNaN};
      summary.ratio = {summary.metrics.mean_jct_s / first.mean_jct_s, kNaN, kNaN};
    }
    summary.mean.mean = summary.metrics.mean_jct_s;  // to the last bit what the JSON says
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::string WithInterval(const Interval& interval, double unit, int decimals) {
  const std::string mean = Fixed(interval.mean / unit, decimals);
  if (std::isnan(interval.low)) return mean;
  return Join(mean, " [", Fixed(interval.low / unit, decimals), ", ", Fixed(interval.high / unit, decimals),
              "]");
}

std::string ExactCell(double value) {
  return std::isnan(value) ? "" : Shortest(value);
}

void PrintUnfinished(const std::string& scheduler, const Metrics& metrics) {
  if (metrics.unfinished == 0) return;
  std::cout << scheduler << ": " << metrics.unfinished << " of " << metrics.jobs + metrics.unfinished
            << " measured jobs did not finish; "
            << (metrics.jobs == 0 ? "it has no figures of jobs"
                : std::isnan(metrics.mean_jct_s)
                    ? "it has no figures of jobs, since none finished in a workload"
                    : "its figures are over the others, open_at_end over all")
            << "\n";
}

void PrintEvaluation(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::vector<MetricColumn>& columns) {
  const std::vector<Summary> summaries = Summaries(rows);
  PrintTable(summaries, plan.workloads.size() < 2, columns);
  for (const Summary& row : summaries) PrintUnfinished(row.row->scheduler, row.metrics);
  for (const Refusal& refusal : plan.refused)
    std::cout << refusal.scheduler << " is left out: " << refusal.reason << "\n";
  PrintBest(summaries);
}

std::vector<std::string> SummaryHeader(const std::vector<MetricColumn>& columns) {
  std::vector<std::string> header = {"scheduler",     "jobs",           "unfinished",      "unstable",
                                     "mean_jct_s",    "mean_jct_low_s", "mean_jct_high_s", "jct_ratio",
                                     "jct_ratio_low", "jct_ratio_high"};
  for (const MetricColumn& column : columns) header.emplace_back(column.field->key);
  return header;
}

std::vector<std::string> SummaryCells(const Summary& row, const std::vector<MetricColumn>& columns) {
  std::vector<std::string> cells = {row.row->scheduler, std::to_string(row.metrics.jobs),
                                    std::to_string(row.metrics.unfinished), row.unstable ? "true" : "false"};
  for (const Interval* interval : {&row.mean, &row.ratio})
    for (const double value : {interval->mean, interval->low, interval->high})
      cells.push_back(ExactCell(value));
  for (const MetricColumn& column : columns)
    cells.push_back(column.off ? "" : ExactCell(column.field->Get(row.metrics)));
  return cells;
}

std::string EvaluationCsv(const std::vector<ResultRow>& rows, const std::vector<MetricColumn>& columns) {
  const auto line = [](std::vector<std::string> cells, const std::string& knowledge,
                       const std::string& decision) {
    cells.insert(std::next(cells.begin()), knowledge);
    cells.push_back(decision);
    return CsvLine(cells);
  };
  std::string text = line(SummaryHeader(columns), "knowledge", "decision_us_mean");
  for (const Summary& row : Summaries(rows))
    text += line(SummaryCells(row, columns), ToString(row.row->knowledge),
                 ExactCell(row.row->DecisionMicroseconds()));
  return text;
}

}  // namespace berth
