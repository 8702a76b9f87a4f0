// What berth evaluate leaves to look at: --report DIR (a page, its figures, its result file) and --timeline.
#pragma once

#include <string>
#include <vector>

#include "tools/evaluation_file.hpp"

namespace berth {

struct ReportRequest {
  std::string folder;             // "" = no page
  std::string timeline;           // "" = none
  std::vector<std::string> with;  // evaluation files at other loads
  std::string command;            // as typed, for the page
  bool any() const { return !folder.empty() || !timeline.empty(); }
};

void AddReportOptions(Options& options);
// Error before the work where the outputs cannot be written or the other files not be read.
ReportRequest ResolveReport(Options& options, const std::vector<std::string>& arguments);
// Error where an evaluation of --report-with differs from this one in more than its load.
void CheckComparable(const ReportRequest& request, const Scenario& first, const std::string& semantics,
                     const Options& options);
// DIR/evaluation.h5, DIR/index.html and the figures by tools/report/report.py; says what was written. An
// older report stays as it is until all is drawn. Error where that failed: the result file is then
// DIR/.new's.
void WriteReport(const ReportRequest& request, const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                 const std::vector<Recording>& recordings, const EvaluationText& text,
                 const Options& options);

}  // namespace berth
