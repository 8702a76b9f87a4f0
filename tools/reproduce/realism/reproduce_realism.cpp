// berth reproduce realism: every example of realism.hpp, as a table and a picture.
#include <filesystem>
#include <iostream>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/plot_script.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/realism/realism.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct Example {
  const char* name;
  RealismResult (*run)(const RealismOptions& options);
};
#define BERTH_ROW(name, function) {name, function},
constexpr Example kExamples[] = {BERTH_REALISM(BERTH_ROW)};
#undef BERTH_ROW

Json ToJson(const std::string& name, const RealismResult& result) {
  Json curves = Json::array();
  for (const Curve& curve : result.curves) {
    curves.push_back(
        {{"name", curve.name}, {"x", curve.x}, {"y", curve.y}, {"low", curve.low}, {"high", curve.high}});
  }
  return {{"name", name},
          {"title", result.title},
          {"shows", result.shows},
          {"columns", result.columns},
          {"rows", result.rows},
          {"x_label", result.x_label},
          {"y_label", result.y_label},
          {"curves", curves},
          {"steps", result.steps},
          {"log_x", result.log_x},
          {"log_y", result.log_y},
          {"skipped", result.skipped}};
}

// The same for reading in a repository: beside the pictures.
std::string Page(const Json& examples, const std::string& command) {
  std::string page =
      Join("# What each feature of a real cluster does\n\nMade by `", command,
           "`. Lines and points are means over workloads, bands 95% bootstrap intervals of them.\n");
  const auto line = [](const Json& cells) {
    std::string text = "|";
    for (const Json& cell : cells) text += " " + cell.get<std::string>() + " |";
    return text + "\n";
  };
  for (const Json& example : examples) {
    const std::string name = example["name"], skipped = example["skipped"];
    page += Join("\n## ", name, "\n\n", example["title"].get<std::string>(), ". ",
                 skipped.empty() ? example["shows"].get<std::string>() : "Skipped: " + skipped, "\n\n");
    if (!skipped.empty()) continue;
    if (!example["curves"].empty()) page += Join("![", name, "](", name, ".png)\n\n");
    page += line(example["columns"]) + "|";
    for (std::size_t i = 0; i < example["columns"].size(); ++i) page += "---|";
    page += "\n";
    for (const Json& row : example["rows"]) page += line(row);
  }
  return page;
}

std::vector<Example> Chosen(const Options& options) {
  std::vector<std::string> names;
  for (const Example& example : kExamples) names.emplace_back(example.name);
  std::vector<Example> chosen;
  for (const std::size_t i : ChosenParts(options, "only", names, "example")) chosen.push_back(kExamples[i]);
  return chosen;
}

}  // namespace

Scenario RealismScenario(const std::string& workload, const std::string& cluster, const std::string& clock,
                         const std::string& features, std::uint64_t seed,
                         const std::function<void(ScenarioData&)>& change) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = Clock::Parse(clock);
  if (!change) settings.features = ParseFeatures(features);
  const Scenario made = EvaluationScenario(*MakeWorkload(workload, settings), seed);
  if (!change) return made;
  ScenarioData data = made.data();
  change(data);
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

RunResult RealismRun(const Scenario& scenario, const std::string& scheduler, Window window) {
  const auto made = MakeScheduler(scheduler, AllSchedulers());
  return Run(scenario, *made, scheduler, {window, false, {}});
}

int ReproduceRealism(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce realism", "[options]",
      "what each feature of a real cluster does: a measured example of each, as table and picture");
  options.Value("only", "", "examples, separated by commas [all]");
  options.Value("seeds", "3", "workloads of each measurement");
  options.Value("traces", "", "folder of real workloads, not shipped [one beside the sources, if there]");
  options.Value("out", "",
                "folder for the page realism.md, its pictures and realism.json [only tables are printed]");
  options.Switch("no-pictures", "write realism.json alone");
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  RealismOptions realism;
  realism.seeds = static_cast<int>(options.Integer("seeds", 2, 1000));
  realism.traces = options.Text("traces");
  if (realism.traces.empty()) {
    const std::string shared = HomeFile("../shared/traces");
    if (std::filesystem::exists(shared)) realism.traces = shared;
  }
  CheckJsonWritable(options);
  const std::string out = options.Text("out");
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce");
  const std::vector<Example> chosen = Chosen(options);
  Json results = Json::array();
  for (const Example& example : chosen) {
    const RealismResult result = example.run(realism);
    results.push_back(ToJson(example.name, result));
    std::cout << result.title << "\n";
    if (!result.skipped.empty()) {
      std::cout << "  skipped: " << result.skipped << "\n\n";
      continue;
    }
    Table table(result.columns);
    for (const auto& row : result.rows) table.AddRow(row);
    std::cout << result.shows << "\n\n" << table.ToString() << "\n" << std::flush;
  }
  const Json all = {{"config", ConfigJson(options)}, {"examples", results}};
  WriteJson(options, all);
  if (out.empty()) return 0;
  WriteTextFile(out + "/realism.json", all.dump(1) + "\n");
  WriteTextFile(out + "/realism.md", Page(results, MadeBy(options, {"only", "seeds", "traces"})));
  std::string failed;
  if (!options.Bool("no-pictures")) failed = RunPlotScript("reproduce/realism/plot_realism.py", {out});
  std::cout << (failed.empty() ? "" : failed + "\n") << "results in " << out << "\n";
  return 0;
}

}  // namespace berth
