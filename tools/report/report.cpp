#include "tools/report/report.hpp"

#include <algorithm>
#include <iostream>

#include "data/hdf5_file.hpp"
#include "env/base/spec.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/plot_script.hpp"
#include "tools/report/timeline.hpp"
#include "tools/scenario_options.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kResult = "evaluation.h5";
// Within the page's folder: what is drawn stands there until all of it does, and report.py moves it.
constexpr const char* kAside = "/.new";

// "clock rounds(360), knowledge oracle, cluster v100=4,k80=4" by its commas and blanks.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(", ", begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

// The parts of one setting that the other lacks.
std::string Beyond(const std::string& setting, const std::string& other) {
  const std::vector<std::string> known = Parts(other);
  std::string text;
  for (const std::string& part : Parts(setting)) {
    if (std::find(known.begin(), known.end(), part) == known.end()) text += (text.empty() ? "" : ", ") + part;
  }
  return text.empty() ? "nothing more" : text;
}

// What of a setting (SettingsText) an evaluation file says: all but the number of jobs.
std::string SettingOf(const h5::Reader& in) {
  const std::string scenario = in.Text("scenario");
  return Join(scenario.substr(0, scenario.rfind(", ")), ", semantics ", in.Text("semantics"));
}

}  // namespace

void AddReportOptions(Options& options) {
  options.Value("report", "", "write a page to this folder (index.html), its figures and its result file");
  options.InputList("report-with",
                    "evaluation files at other loads, separated by ';', for the page's JCT against load");
  options.Output("timeline", Join(kTimelineHelp, "; of the first workload"));
}

ReportRequest ResolveReport(Options& options, const std::vector<std::string>& arguments) {
  ReportRequest request;
  request.folder = options.Text("report");
  request.timeline = options.Text("timeline");
  request.with = SplitOutsideParentheses(options.Text("report-with"), ';');
  request.command = CommandName() + " evaluate";
  for (const std::string& word : arguments) request.command += " " + ForShell(word);
  if (request.folder.empty() && options.Given("report"))
    throw Error(Join(options.Where("report"), ": expected a folder, found nothing"));
  if (request.folder.empty() && !request.with.empty())
    throw Error(Join(options.Where("report-with"), ": expected --report DIR with it, found none"));
  for (const std::string& file : request.with) {
    try {
      const h5::Reader in(file, "evaluation", kEvaluationVersion);
    } catch (const Error& error) {
      throw Error(Join(options.Where("report-with"), ": ", error.what()));
    }
  }
  CheckWritable(request.timeline, options.Where("timeline"));
  if (!request.folder.empty()) {
    for (const char* file : {kResult, "index.html"})
      options.AddWritten("report", request.folder + "/" + file);
    MakeFolder(request.folder, options.Where("report"));
    const std::string result = request.folder + "/" + kResult;
    CheckWritable(result, options.Where("report"), h5::IfKindOf(result) ? "evaluation" : "");
    CheckWritable(request.folder + "/index.html", options.Where("report"));
  }
  return request;
}

void CheckComparable(const ReportRequest& request, const Scenario& first, const std::string& semantics,
                     const Options& options) {
  const std::string here = Join(SettingsText(first), ", semantics ", semantics);
  for (const std::string& file : request.with) {
    const std::string there = SettingOf(h5::Reader(file, "evaluation", kEvaluationVersion));
    if (there == here) continue;
    throw Error(Join(options.Where("report-with"), ": ", file,
                     ": expected an evaluation at another load and otherwise like this one (",
                     Beyond(here, there), "), found ", Beyond(there, here)));
  }
}

void WriteReport(const ReportRequest& request, const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                 const std::vector<Recording>& recordings, const EvaluationText& text,
                 const Options& options) {
  if (!request.timeline.empty()) {
    std::vector<TimelineRun> runs;
    for (std::size_t k = 0; k < rows.size(); ++k)
      runs.push_back({rows[k].scheduler, &recordings[k].first_run});
    WriteTimeline(request.timeline, plan.workloads[0], runs);
    std::cout << "timeline: " << request.timeline << ", for ui.perfetto.dev\n";
  }
  if (request.folder.empty()) return;
  MakeFolder(request.folder + kAside, options.Where("report"));
  const std::string file = Join(request.folder, kAside, "/", kResult);
  WriteEvaluation(plan, rows, &recordings, text, options, file);
  std::vector<std::string> words = {file, "--out", request.folder};
  for (const std::string& with : request.with) words.insert(words.end(), {"--with", with});
  if (const std::string failed = RunPlotScript("report/report.py", words); !failed.empty())
    throw Error(failed);
  std::cout << "report: " << request.folder << "/index.html\n";
}

}  // namespace berth
