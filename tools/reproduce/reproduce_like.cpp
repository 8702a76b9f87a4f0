// berth reproduce like: is what `berth generate --like` draws like the weeks that its model did not see?
// Public logs, a table of columns by logs.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "data/tables/job_table.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/like/check.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kLikeReport = "like.md";
constexpr std::uint64_t kSeed = 1000;
constexpr int kDraws = 30;

using Cells = ReproductionPage::Cells;

struct LikeLog {
  const char *name, *format, *path, *cluster, *columns;
};
// Clusters on which every gang of the log fits; nothing is scheduled here.
constexpr LikeLog kLikeLogs[] = {
    {"Philly", "philly", "philly/philly_sorted.csv.gz", "p100=2490/8", ""},
    {"ITP 01", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster01.csv", "v100=1024/8", ""},
    {"ITP 02", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster02.csv", "v100=1024/8", ""},
    {"ITP 03", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster03.csv", "v100=1024/8", ""},
    {"ITP 04", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster04.csv", "v100=1024/8", ""},
    {"ITP 05", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster05.csv", "v100=1024/8", ""},
    {"ITP 06", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster06.csv", "v100=1024/8", ""},
    {"ITP 07", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster07.csv", "v100=1024/8", ""},
    {"ITP 08", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster08.csv", "v100=1024/8", ""},
    {"ITP 09", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster09.csv", "v100=1024/8", ""},
    {"ITP 10", "itp", "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster10.csv", "v100=1024/8", ""},
    {"Theta", "swf", "alcf-theta-mira/theta_canonical.swf.gz", "", ""},
    {"Mira", "swf", "alcf-theta-mira/mira_canonical.swf.gz", "", ""},
    {"OpenB", "openb", "alibaba-gpu-v2023-openb/openb_pod_list_default.csv.gz", "", ""},
    {"ElasticFlow", "table", "elasticflow/philly_103959.csv.gz", "v100=1024/8",
     "arrival=submit_time,duration=real_duration,gpus=num_gpu,type=model_name,deadline="},
    {"Tiresias", "table", "tiresias/60_job.csv", "v100=1024/8",
     "arrival=submit_time,duration=duration,gpus=num_gpu,type=model_name"},
    {"Lublin 1", "swf", "rlscheduler-lublin/lublin_256.swf.gz", "", ""},
    {"Lublin 2", "swf", "rlscheduler-lublin/lublin_256_new2.swf.gz", "", ""},
    {"Shockwave", "gavel",
     "shockwave/900_0.2_5_100_5_15_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace.gz", "v100=256/4", ""},
};

Scenario Read(const LikeLog& log, const std::string& path) {
  ScenarioSettings settings;
  if (*log.cluster != '\0') settings.cluster = ParseCluster(log.cluster);
  const FormatInfo& format = FindFormat(log.format);
  settings.clock = format.default_clock;
  if (log.format == std::string("table"))
    return ReadJobTable(path, {log.columns, "", 0, false}, settings).scenario;
  return format.read(path, settings);
}

std::string ConvertCommand(const LikeLog& log) {
  return Join("`berth convert --format ", log.format, " '", log.path, "'",
              *log.cluster != '\0' ? Join(" --cluster ", log.cluster) : "",
              *log.columns != '\0' ? Join(" --columns ", log.columns) : "", " --out log.h5`");
}

// A row a log, a column a column: verdict, distance and in brackets that of the earlier weeks.
void ReportTable(const std::vector<LikeCheck>& checks, ReproductionPage& page) {
  Cells header = {"log", "jobs, earlier", "held out"};
  for (const LikeCheck& check : checks) {
    for (const LikeColumn& column : check.columns) {
      if (std::find(header.begin(), header.end(), column.name) == header.end()) header.push_back(column.name);
    }
  }
  header.emplace_back("passed");
  std::vector<Cells> rows;
  for (const LikeCheck& check : checks) {
    Cells cells = {check.name, Join(check.earlier_jobs), Join(check.later_jobs)};
    for (std::size_t i = 3; i + 1 < header.size(); ++i) {
      const auto at = std::find_if(check.columns.begin(), check.columns.end(),
                                   [&](const LikeColumn& column) { return column.name == header[i]; });
      if (at == check.columns.end()) {
        cells.emplace_back("");
        continue;
      }
      const std::string text = Join(ToString(at->verdict), " ", Fixed(at->of_drawn.distance, 2), " [",
                                    Fixed(at->of_earlier.distance, 2), "]");
      cells.push_back(at->verdict == LikeVerdict::kDiffers ? Join("**", text, "**") : text);
    }
    cells.push_back(Join(check.passed(), " of ", check.columns.size()));
    rows.push_back(std::move(cells));
  }
  page.Rows(header, rows);
}

}  // namespace

int ReproduceLike(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce like", "[--traces DIR] [--out DIR]",
      "what berth generate --like draws beside weeks that it did not see: public logs, column by column");
  options.Value("traces", "", "folder of the public logs, not shipped [one beside the sources, if there]");
  options.Value("out", "", "folder for the page like.md");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const std::string& out = options.Text("out");
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce");
  const std::string folder = options.Given("traces") ? options.Text("traces") : HomeFile("../shared/traces");
  Json json = {{"config", ConfigJson(options)}, {"logs", Json::array()}, {"skipped", Json::array()}};
  std::vector<LikeCheck> checks;
  std::vector<Cells> commands;
  for (const LikeLog& log : kLikeLogs) {
    const std::string path = folder + "/" + log.path;
    const std::size_t member = path.find(".gz:");
    if (!std::filesystem::exists(member == std::string::npos ? path : path.substr(0, member + 3))) {
      std::cout << "skipped: " << log.name << ": " << path << " is not there\n";
      json["skipped"].push_back(log.name);
      continue;
    }
    checks.push_back(CheckLike(Read(log, path), kSeed, kDraws));
    checks.back().name = log.name;
    commands.push_back({log.name, ConvertCommand(log)});
    json["logs"].push_back(LikeCheckJson(checks.back()));
  }
  if (checks.empty())
    throw Error(
        Join(options.Where("traces"),
             ": expected a folder that holds philly, microsoft-itp-elasticflow or alcf-theta-mira, found '",
             folder, "'"));
  int passed = 0;
  std::size_t all = 0;
  for (const LikeCheck& check : checks) passed += check.passed(), all += check.columns.size();
  ReproductionPage page;
  page.Paragraph("# Drawn jobs and real ones");
  page.Paragraph(Join(
      "Made by `", MadeBy(options, {"traces"}), "` from source ", SourceCommit(),
      ". A model is fitted to the earlier weeks of each log; ", kDraws,
      " workloads are drawn from it, as long as the weeks held out, and compared with those. A cell has the "
      "verdict, the distance of drawn from held-out jobs, and in brackets that of the earlier weeks; in bold "
      "what "
      "differs. ",
      passed, " of ", all, " columns pass."));
  ReportTable(checks, page);
  page.Paragraph(LikeRule());
  page.Paragraph("What makes each scenario, in the folder of the logs:");
  page.Rows({"log", "command"}, commands);
  WriteJson(options, json);
  if (out.empty()) {
    std::cout << page.text();
    return 0;
  }
  page.Write(out, kLikeReport);
  std::cout << passed << " of " << all << " columns pass\n" << out << "/" << kLikeReport << "\n";
  return 0;
}

}  // namespace berth
