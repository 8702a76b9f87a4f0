// What evaluate says of its rows: the table with the lines beneath it, and the same table as CSV.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tools/evaluation.hpp"
#include "tools/metric_columns.hpp"

namespace berth {

// On standard output: the table, who lost jobs, who could not run, who has the least mean JCT.
void PrintEvaluation(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::vector<MetricColumn>& columns);

// A line where jobs did not finish, for means are over the others.
void PrintUnfinished(const std::string& scheduler, const Metrics& metrics);

// A row of results with what is worked out of its runs: once, and not for each who asks.
struct Summary {
  const ResultRow* row;
  Metrics metrics;  // Combined
  bool unstable;
  Interval mean, ratio;  // of the mean JCT, and of it to the first row's; without bounds for one workload
};
std::vector<Summary> Summaries(const std::vector<ResultRow>& rows);

// What a table's † means, where a row has one. `of`: the summary of a row.
template <class Rows, class Of = std::identity>
void PrintMarks(const Rows& rows, Of of = {}) {
  const auto untold = [](const Summary& row) { return std::isnan(row.metrics.backlog_growth); };
  if (std::ranges::any_of(rows, &Summary::unstable, of)) std::cout << UnstableMark() << "\n";
  if (std::ranges::any_of(rows, untold, of)) std::cout << UntoldMark() << "\n";
}

// The same for other tables, lines of cells without times of decisions, which another run would not repeat.
std::vector<std::string> SummaryHeader(const std::vector<MetricColumn>& columns);
std::vector<std::string> SummaryCells(const Summary& row, const std::vector<MetricColumn>& columns);
std::string ExactCell(double value);  // as cells say it: the shortest text of that number, "" where it is NaN
// "1.23 [1.10, 1.35]", in `unit`; without the brackets where there are no bounds.
std::string WithInterval(const Interval& interval, double unit, int decimals);

// A row a scheduler (tools/FORMATS.md). Numbers are exact, in the units that the keys of the JSON name; an
// empty cell where there is no figure.
std::string EvaluationCsv(const std::vector<ResultRow>& rows, const std::vector<MetricColumn>& columns);

}  // namespace berth
