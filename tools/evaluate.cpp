// berth evaluate: schedulers compared on the same workloads, with 95% intervals and paired ratios.
#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "env/base/counted.hpp"
#include "tools/evaluation_file.hpp"
#include "tools/evaluation_plan.hpp"
#include "tools/evaluation_shard.hpp"
#include "tools/evaluation_table.hpp"
#include "tools/metric_columns.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/report/report.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

void AddEvaluateOptions(Options& options) {
  AddEvaluationPlan(options);
  options.Value(
      "metrics", "",
      Join("columns of the table, of --csv and of the page beside the mean JCT and its ratio, separated by "
           "commas: ",
           MetricNames(),
           ", or the key that a figure has in --json [nine usual ones, and those of deadlines and features; "
           "of a page more]"));
  options.Group("Results");
  options.Output("out", "write every job's completion time to this file (.h5)");
  options.Output("csv",
                 "write the table to this file: a row a scheduler, exact numbers in the units of --json");
  options.Inputs("merge",
                 "shards that several processes wrote to --out: the evaluation that one would have made");
  AddReportOptions(options);
  options.Note(
      "Columns: JCT, from a job's arrival to its end; ratio, of the mean JCT to the first scheduler's on the "
      "same "
      "workloads; slowdown, JCT over the run time alone on the fastest type; wait, from arrival to the first "
      "start; util, share of the GPUs' time in use; backlog, jobs in the system when the last measured one "
      "arrives; open, those not done when the last job of all arrives. In brackets 95% intervals.");
  options.Everyday({"schedulers", "scenario", "format", "workload", "cluster", "clock", "knowledge",
                    "features", "seeds", "window", "threads", "out", "report", "timeline"});
}

// A policy where there is none, and else pictures where there are none.
std::string NextOf(const EvaluationPlan& plan, const Options& options) {
  if (!options.Text("merge").empty()) return "";
  const bool learned = std::any_of(plan.schedulers.begin(), plan.schedulers.end(), [](const std::string& s) {
    return s.find("policy(") != std::string::npos;
  });
  if (!learned) {
    const bool fixed = !options.Text("scenario").empty();
    return NextStep(
        fixed ? "a policy for these jobs, which keeps some back to compare on" : "a policy for these jobs",
        Join("train", SameJobs(options), fixed ? TrainingPart(plan.workloads[0].num_jobs()) : "",
             " --out run"));
  }
  if (options.Text("report").empty()) return NextOfEvaluation(options.ResolvedIni());
  if (options.Text("timeline").empty()) return NextOfReport(options.ResolvedIni());
  return NextStep("what the file of the report holds",
                  Join("inspect ", ForShell(options.Text("report") + "/evaluation.h5")));
}

// What was evaluated is in the shards.
void CheckMergeAlone(const Options& options) {
  for (const auto& [name, value] : options.Resolved()) {
    static const std::set<std::string> kWithIt = {"merge", "out", "csv", "threads", "metrics"};
    if (!options.Given(name) || kWithIt.count(name) > 0) continue;
    throw Error(
        Join("--merge: expected with it only --out, --json, --csv, --metrics and --threads, since the shards "
             "say what was run; found ",
             options.Where(name)));
  }
}

// This process's part of the workloads, into a file that --merge reads.
int EvaluateShard(Options& options, const World& world) {
  for (const char* whole : {"json", "csv", "report", "timeline", "report-with"}) {
    if (options.Text(whole).empty()) continue;
    throw Error(Join(options.Where(whole), ": expected only --out with several processes (",
                     world.size_variable, " is ", world.size, "); --merge then writes the rest"));
  }
  const std::string path = ShardPath(options.Required("out"), world), config = ShardConfig(options);
  CheckWritable(path, options.Where("out"), kShardKind);
  const WorkloadChoice workload = ResolveWorkload(options);
  const EvaluationPlan plan = MakeEvaluationPlan(options, workload), shard = ShardOf(plan, world);
  if (options.Given("metrics"))
    InOption(options, "metrics", [&] { return MetricColumns(options.Text("metrics"), plan.workloads); });
  const std::string who = Join("shard ", world.rank, " of ", world.size, ": ");
  if (shard.seeds.empty()) {
    std::cout << who << "nothing to do, with " << Counted(plan.seeds.size(), "workload") << " in all\n";
    return 0;
  }
  CommonSemantics(plan.schedulers);
  WriteShard(shard, Evaluate(shard), config, world, path);
  std::cout << Join(who, shard.seeds.size(), " of ", Counted(plan.seeds.size(), "workload"), " in ", path)
            << "\n"
            << NextOfShard(path);
  return 0;
}

}  // namespace

int RunEvaluate(const std::vector<std::string>& arguments) {
  Options options("evaluate",
                  "[--schedulers 'SPEC;SPEC;...'] [--scenario FILE | --workload SPEC --cluster CLUSTER] "
                  "[--seeds A:B] [--window A:B] [--json FILE] [--out FILE] [--report DIR]; or --merge "
                  "FILE... [--json FILE] [--out FILE]",
                  "compares schedulers on the same workloads");
  AddEvaluateOptions(options);
  if (!options.Parse(JoinLists(arguments, {"schedulers"}))) return 0;
  const std::vector<std::string> merge = options.Words("merge");
  const World world = merge.empty() ? ReadWorld() : World();
  if (world.many()) return EvaluateShard(options, world);

  std::optional<EvaluationShards> shards;
  if (!merge.empty()) {
    CheckMergeAlone(options);
    shards.emplace(merge);
    options.ReadConfigText(shards->config(), shards->first());
    options.Assign("merge", "");  // the configuration is that of the run
  }
  const std::string out = options.Text("out");
  CheckWritable(out, options.Where("out"), "evaluation");
  CheckJsonWritable(options);
  const std::string csv = options.Text("csv");
  if (!IsSpecialFile(csv)) CheckWritable(csv, options.Where("csv"));
  const ReportRequest report = ResolveReport(options, arguments);
  const WorkloadChoice workload = ResolveWorkload(options);
  const EvaluationPlan plan = MakeEvaluationPlan(options, workload);
  const std::string semantics = CommonSemantics(plan.schedulers);
  const std::string& chosen = options.Text("metrics");
  const auto columns_of = [&](const std::string& otherwise) {
    return InOption(options, "metrics", [&] {
      return MetricColumns(options.Given("metrics") ? chosen : otherwise, plan.workloads);
    });
  };
  const std::vector<MetricColumn> columns = columns_of(UsualMetrics(plan.workloads));
  CheckComparable(report, plan.workloads[0], semantics, options);
  std::vector<Recording> recordings;
  const std::vector<ResultRow> rows =
      shards ? shards->Rows(plan) : Evaluate(plan, report.any() ? &recordings : nullptr);
  const EvaluationText text{workload.source->Describe(), semantics, report.command,
                            columns_of(PageMetrics(plan.workloads))};
  if (!out.empty()) WriteEvaluation(plan, rows, report.any() ? &recordings : nullptr, text, options, out);

  const std::string window = Join(plan.window.begin, ":", plan.window.end);
  Json json;
  json["clock"] = plan.workloads[0].data().clock.ToString();
  json["semantics"] = semantics;
  json["knowledge"] = ToString(plan.workloads[0].data().knowledge);
  json["cluster"] = ClusterText(plan.workloads[0].data().cluster);
  json["workload"] = workload.source->Describe();
  json["window"] = {plan.window.begin, plan.window.end};
  json["schedulers"] = EvaluationJson(plan.seeds, rows);
  json["refused"] = Json::array();
  for (const auto& [scheduler, reason] : plan.refused)
    json["refused"].push_back({{"scheduler", scheduler}, {"reason", reason}});
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  if (!csv.empty()) InOption(options, "csv", [&] { WriteTextFile(csv, EvaluationCsv(rows, columns)); });

  std::cout << ScenarioText(plan.workloads[0]) << ", semantics " << semantics << "\nworkload "
            << workload.source->Describe();
  if (!workload.source->fixed()) std::cout << ", seeds " << options.Text("seeds");
  std::cout << ", measured jobs " << window << "\n\n";
  PrintEvaluation(plan, rows, columns);
  if (!out.empty()) std::cout << "every job's completion time: " << out << "\n";
  WriteReport(report, plan, rows, recordings, text, options);
  std::cout << NextOf(plan, options);
  return 0;
}

}  // namespace berth
