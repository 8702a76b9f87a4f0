// berth simulate: one scheduler over one scenario.
#include <iostream>
#include <optional>

#include "data/workloads.hpp"
#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "tools/evaluation_plan.hpp"
#include "tools/evaluation_table.hpp"
#include "tools/metric_columns.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/report/timeline.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

void PrintTable(const ResultRow& row, const Scenario& scenario) {
  const Metrics metrics = row.Combined();
  const std::span<const Scenario> one(&scenario, 1);
  std::string names = "p50,p95,p99,makespan,util,slowdown,wait_p99,wait_max";
  if (const std::string more = MetricsOfFeatures(one); !more.empty()) names += "," + more;
  const std::vector<MetricColumn> columns = MetricColumns(names, one);
  std::vector<std::string> header = {"scheduler", "knowledge", "jobs", "mean JCT h"};
  std::vector<std::string> cells = {row.scheduler, ToString(row.knowledge), std::to_string(metrics.jobs),
                                    Hours(metrics.mean_jct_s)};
  for (const MetricColumn& column : columns) {
    header.push_back(column.title);
    cells.push_back(column.Cell(metrics));
  }
  header.insert(header.end(), {"decision us", "signature"});
  cells.insert(cells.end(), {Fixed(row.DecisionMicroseconds(), 2), HexSignature(row.Signature())});
  Table table(header);
  table.AddRow(cells);
  std::cout << table.ToString();
}

void PrintFiles(const Options& options) {
  if (const std::string& file = options.Text("events"); !file.empty())
    std::cout << "events: " << file << ", what happened in order\n";
  if (const std::string& file = options.Text("timeline"); !file.empty())
    std::cout << "timeline: " << file << ", for ui.perfetto.dev\n";
}

}  // namespace

int RunSimulate(const std::vector<std::string>& arguments) {
  Options options("simulate",
                  "[--scheduler SPEC] [--scenario FILE | --workload SPEC --cluster CLUSTER] [--events FILE] "
                  "[--timeline FILE] [--json FILE]",
                  "runs one scheduler over one scenario");
  AddSimulationPlan(options);
  options.Group("Results");
  options.Output("events", "write the event log to this file (.h5)");
  options.Output("timeline", kTimelineHelp);
  if (!options.Parse(arguments)) return 0;

  CheckWritable(options.Text("events"), options.Where("events"), "events");
  CheckWritable(options.Text("timeline"), options.Where("timeline"));
  CheckJsonWritable(options);
  SimulationPlan plan = MakeSimulationPlan(options);
  const std::string& name = plan.name;
  const Scenario& scenario = plan.scenario;

  RunOptions run = plan.run;
  std::optional<RunRecorder> recorder;
  if (!options.Text("timeline").empty()) recorder.emplace(scenario);
  run.keep_events = recorder || !options.Text("events").empty();
  ResultRow row{name, UsedKnowledge(*plan.scheduler, scenario.data()), {}};
  {
    Progress progress("simulate");
    run.notice = [&](const std::string& words) { progress.Say(words); };
    run.progress = [&](const Simulator& simulator) {
      if (recorder) recorder->Observe(simulator);
      const int left = simulator.jobs_in_system();
      const int done = simulator.arrived_jobs() - left;
      progress.Update(
          static_cast<double>(done) / run.window.end,
          Join(Counted(done, "job"), " done, ", left, " in system, ", progress.Rate(done, "jobs")));
      return true;
    };
    row.runs.push_back(Run(scenario, *plan.scheduler, name, run));
  }
  if (!options.Text("events").empty())
    WriteEvents(row.runs[0], scenario, name, options.ResolvedIni(), options.Text("events"));
  if (recorder) {
    const RunRecord record = recorder->Finish(row.runs[0]);
    WriteTimeline(options.Text("timeline"), scenario, {{name, &record}});
  }

  Json json = RowJson(row);
  json["window"] = {run.window.begin, run.window.end};
  json["scenario"] = {{"clock", scenario.data().clock.ToString()},
                      {"knowledge", ToString(scenario.data().knowledge)},
                      {"cluster", ClusterText(scenario.data().cluster)},
                      {"workload", plan.source->Describe()},
                      {"hash", HexSignature(scenario.Hash())}};
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  std::cout << ScenarioText(scenario) << ", measured " << run.window.begin << ":" << run.window.end << "\n";
  PrintTable(row, scenario);
  PrintUnfinished(name, row.runs[0].metrics);
  PrintFiles(options);
  std::string schedulers = name;
  for (const std::string& spec : SplitOutsideParentheses(FirstLook(scenario.data().knowledge), ';')) {
    if (spec != name) schedulers += ";" + spec;
  }
  std::string words = Join("evaluate", SameJobs(options));
  if (!plan.source->fixed()) words += Join(" --seeds ", plan.seed, ":", plan.seed + 1);
  for (const char* option : {"window", "max-time"}) {
    if (options.Given(option)) words += Join(" --", option, " ", options.Text(option));
  }
  std::cout << NextStep("beside other schedulers", Join(words, " --schedulers ", ForShell(schedulers)));
  return 0;
}

}  // namespace berth
