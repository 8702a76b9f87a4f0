// berth reproduce hpc: the published batch-scheduling tables of RLScheduler (SC 2020), published and
// measured side by side, every recorded value, and whole GPU logs.
#include <filesystem>
#include <iostream>

#include "env/base/check.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/hpc.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

int Decimals(const std::string& printed) {
  const std::size_t point = printed.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
}

struct Report {
  std::string text;
  Json cells = Json::array();
  int compared = 0, differ = 0;
};

// A column published, a column measured for each setting.
void AddTable(const HpcTable& table, HpcRuns& runs, Report& report) {
  std::vector<std::string> headers = {"rule"};
  for (const HpcSetting& setting : HpcSettings()) headers.insert(headers.end(), {setting.name, "measured"});
  headers.emplace_back("s/run");
  Table text(headers);
  for (const HpcRow& row : table.rows) {
    std::vector<std::string> cells = {row.rule};
    double seconds = 0.0;
    int count = 0;
    for (int s = 0; s < kHpcSettings; ++s) {
      const HpcSetting& setting = HpcSettings()[static_cast<std::size_t>(s)];
      const std::string published = row.value[s];
      Json cell = {{"table", table.title},   {"setting", setting.name}, {"rule", row.rule},
                   {"metric", table.metric}, {"published", published},  {"measured", nullptr},
                   {"held", nullptr}};
      cells.push_back(published.empty() ? "-" : published);
      if (*row.spec == '\0' || published.empty()) {
        cells.emplace_back("-");
      } else {
        const ResultRow& result = runs.Get(setting, table.semantics, table.official, row.spec);
        const Metrics mean = result.Combined();
        const double found =
            std::string(table.metric) == "utilisation" ? mean.hpc_utilization : mean.hpc_bounded_slowdown;
        const std::string printed =
            Fixed(table.twice ? std::stod(Fixed(found, 2)) : found, Decimals(published));
        const bool held = printed == published;
        ++report.compared;
        report.differ += !held;
        cells.push_back(held ? printed : "*" + printed);
        cell["scheduler"] = result.scheduler;
        cell["measured"] = found;
        cell["held"] = held;
        cell["result"] = RowJson(result);
        for (const RunResult& run : result.runs) seconds += run.wall_s, ++count;
      }
      report.cells.push_back(std::move(cell));
    }
    cells.push_back(count > 0 ? Fixed(seconds / count, 4) : "-");
    text.AddRow(std::move(cells));
  }
  report.text += Join(table.title, "\nsemantics ", ToString(table.semantics), ", clock ",
                      table.semantics == Semantics::kCommit ? "hpc" : "event", "\n\n", text.ToString(), "\n");
}

// Bounded slowdown alone rewards starving large jobs: the waits of the same runs, which nobody published.
void AddWaits(const HpcTable& table, HpcRuns& runs, Report& report) {
  std::vector<std::string> headers = {"rule"};
  for (const HpcSetting& setting : HpcSettings())
    headers.insert(headers.end(), {Join(setting.name, " mean"), "p99", "max"});
  Table text(headers);
  for (const HpcRow& row : table.rows) {
    if (*row.spec == '\0') continue;
    std::vector<std::string> cells = {row.rule};
    for (const HpcSetting& setting : HpcSettings()) {
      if (*row.value[&setting - HpcSettings().data()] == '\0') {
        cells.insert(cells.end(), 3, "-");
        continue;
      }
      const Metrics mean = runs.Get(setting, table.semantics, table.official, row.spec).Combined();
      for (double seconds : {mean.mean_wait_s, mean.p99_wait_s, mean.max_wait_s})
        cells.push_back(Fixed(seconds / 3600.0, 1));
    }
    text.AddRow(std::move(cells));
  }
  report.text += Join("The same runs, waits in hours (measured only; the maximum over all sequences)\n\n",
                      text.ToString(), "\n");
}

void AddGolden(const std::string& path, HpcRuns& runs, Report& report, Json& json) {
  const HpcGolden golden = CompareHpcGolden(path, runs);
  report.compared += golden.values;
  report.differ += static_cast<int>(golden.differ.size());
  report.text +=
      Join("Recorded values of single sequences (", path, "): ", golden.values, " compared, ",
           golden.differ.size(), " differ; largest relative deviation of those recorded with all digits ",
           golden.worst, "; ", golden.skipped, " of learned policies not rerun\n");
  for (std::size_t i = 0; i < golden.differ.size() && i < 20; ++i)
    report.text += Join("  ", golden.differ[i], "\n");
  json["golden"] = {{"file", path},
                    {"values", golden.values},
                    {"differ", golden.differ},
                    {"largest_deviation", golden.worst},
                    {"not_rerun", golden.skipped}};
}

}  // namespace

int ReproduceHpc(const std::vector<std::string>& arguments) {
  Options options("reproduce hpc", "[--traces DIR] [--out DIR] [--json FILE]",
                  "reruns the published batch-scheduling tables and whole GPU logs");
  options.Value("traces", "", "folder of the public traces, not shipped [one beside this folder, if there]");
  options.Value("out", "", "folder for the page hpc.md");
  options.Value("logs", "true", "also run the whole Philly, ITP, Theta and Mira logs");
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const bool logs = options.Bool("logs");
  if (!options.Given("traces")) options.Assign("traces", HomeFile("../shared/traces"));
  const std::string traces = options.Text("traces");
  const std::string lublin = traces + "/rlscheduler-lublin";
  if (!std::filesystem::is_directory(lublin)) {
    throw Error(Join(options.Where("traces"), ": expected a folder that holds rlscheduler-lublin, found '",
                     traces, "'"));
  }
  const std::string out = options.Text("out");
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce");

  Report report;
  Json json;
  HpcRuns runs(lublin);
  for (const HpcTable& table : HpcTables()) {
    AddTable(table, runs, report);
    if (std::string(table.metric) != "utilisation") AddWaits(table, runs, report);
  }
  report.text += Join(HpcMissing(), "\n");
  if (std::filesystem::exists(lublin + "/golden.json")) {
    AddGolden(lublin + "/golden.json", runs, report, json);
  } else {
    report.text += Join("skipped: ", lublin, "/golden.json is not there\n");
  }
  report.text += Join(runs.count(), " runs of ", kHpcJobs, " jobs in ", Fixed(runs.seconds(), 2), " s\n");
  if (logs) {
    const HpcLogs whole = RunHpcLogs(traces);
    report.text += Join("\nWhole logs\n\n", whole.text);
    for (const std::string& skipped : whole.skipped) report.text += Join("skipped: ", skipped, "\n");
    report.differ += whole.differ;
    json["logs"] = whole.json;
  }
  const std::string verdict =
      report.differ == 0
          ? Join("all ", report.compared, " published and recorded values held to the printed digits\n")
          : Join(report.differ, " values differ from what is published, see * above\n");
  std::cout << report.text << "\n" << verdict;
  json["cells"] = std::move(report.cells);
  json["compared"] = report.compared;
  json["differ"] = report.differ;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  if (!out.empty()) {
    WriteTextFile(out + "/hpc.md",
                  Join("# Published batch-scheduling results, rerun\n\n`",
                       logs ? MadeBy(options, {"traces"}) : MadeBy(options, {"traces", "logs"}),
                       "`; published figures: "
                       "RLScheduler (Zhang et al., SC 2020) and reruns of its authors' code.\n\n```\n",
                       report.text, "```\n\n", verdict));
  }
  return report.differ == 0 ? 0 : 1;
}

}  // namespace berth
