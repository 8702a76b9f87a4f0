// What evaluate says of its rows: the table with the lines beneath it, and the same table as CSV.
#pragma once

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

// A row a scheduler (tools/FORMATS.md). Numbers are exact, in the units that the keys of the JSON name; an
// empty cell where there is no figure.
std::string EvaluationCsv(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                          const std::vector<MetricColumn>& columns);

}  // namespace berth
