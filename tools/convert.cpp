// berth convert: a public trace, a table of one's own or another scenario as a scenario file.
#include <cmath>
#include <iostream>

#include "data/decisions/decisions.hpp"
#include "data/edit.hpp"
#include "data/tables/columns.hpp"
#include "env/base/check.hpp"
#include "tools/output_file.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr const char* kScenarioFormat = "berth";
constexpr const char* kTableOptions[] = {"columns", "throughputs", "skip-bad", "estimate-missing"};
constexpr const char* kEdits[] = {"jobs", "cut",        "filter",          "scale-cluster",
                                  "add",  "scale-load", "shuffle-arrivals"};
constexpr double kMostFactor = 1e6;

Scenario Read(Options& options) {
  const std::string trace = options.Required("trace"), format = options.Required("format");
  if (options.Bool("estimate-missing") && options.Text("throughputs").empty())
    throw Error(Join(options.Where("estimate-missing"), ": expected --throughputs with it, found none"));
  if (format == kTableFormat) {
    return ReadTable(
        trace,
        {options.Text("columns"), options.Text("throughputs"),
         static_cast<int>(options.Integer("skip-bad", 0, 1'000'000'000)), options.Bool("estimate-missing")},
        options);
  }
  for (const char* name : kTableOptions) {
    if (options.Given(name))
      throw Error(Join(options.Where(name), ": expected with it ", options.Where("format"), " ", kTableFormat,
                       ", found ", format));
  }
  return format == kScenarioFormat ? ReadScenarioFile("trace", options) : ReadTrace(trace, format, options);
}

// What became of the factor, where GPUs or nodes are no multiple of it.
void SayScaled(const ClusterSpec& before, const ClusterSpec& after, double factor) {
  std::string text;
  for (std::size_t g = 0; g < before.types.size(); ++g) {
    const int was = before.types[g].count, is = after.types[g].count;
    if (std::abs(is - factor * was) > 1e-9 * is)
      text += Join(text.empty() ? "" : ", ", before.types[g].name, " ", was, " -> ", is, " (x",
                   Fixed(1.0 * is / was, 2), ")");
  }
  if (!text.empty())
    std::cout << "scale-cluster: whole nodes do not make " << factor << " times: " << text << "\n";
}

// A file says what was done to it since it was drawn or read.
Scenario WithProvenance(const Scenario& scenario, const Options& options) {
  std::string edits;
  for (const char* name : kEdits) {
    if (options.Given(name)) edits += Join(" --", name, " ", options.Text(name));
  }
  if (edits.empty()) return scenario;
  ScenarioData data = scenario.data();
  data.provenance += Join(data.provenance.empty() ? "" : "; ", "changed by convert", edits);
  return Scenario(std::move(data));
}

// In the order of the options' list.
Scenario Edited(Scenario scenario, const Options& options) {
  const auto edit = [&](const char* name, const auto& make) { scenario = InOption(options, name, make); };
  const auto factor = [&](const char* name) { return options.Number(name, 1.0 / kMostFactor, kMostFactor); };
  if (options.Given("jobs")) {
    const Window jobs = ResolveWindow(options, scenario.num_jobs(), "jobs");
    scenario = Slice(scenario, jobs.begin, jobs.end);
  }
  if (options.Given("cut")) {
    edit("cut", [&] {
      const std::string& text = options.Text("cut");
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos) throw Error(Join("expected seconds A:B, found '", text, "'"));
      const double begin_s = ParseNumber(text.substr(0, colon), "A of A:B");
      const double end_s = ParseNumber(text.substr(colon + 1), "B of A:B");
      if (!(end_s > begin_s)) throw Error(Join("expected seconds A:B with A < B, found '", text, "'"));
      return ArrivingIn(scenario, begin_s, end_s);
    });
  }
  if (options.Given("filter")) edit("filter", [&] { return FilterJobs(scenario, options.Text("filter")); });
  if (options.Given("scale-cluster")) {
    const double by = factor("scale-cluster");
    const ClusterSpec before = scenario.data().cluster;
    edit("scale-cluster", [&] { return ScaleCluster(scenario, by); });
    SayScaled(before, scenario.data().cluster, by);
  }
  if (options.Given("add")) edit("add", [&] { return AddGpus(scenario, options.Text("add")); });
  if (options.Given("scale-load")) scenario = ScaleLoad(scenario, factor("scale-load"));
  if (options.Given("shuffle-arrivals"))
    scenario = ShuffleArrivals(scenario,
                               static_cast<std::uint64_t>(options.Integer("shuffle-arrivals", 0, INT64_MAX)));
  return WithProvenance(scenario, options);
}

}  // namespace

int RunConvert(const std::vector<std::string>& arguments) {
  Options options("convert", "--format NAME TRACE [--cluster CLUSTER] --out FILE",
                  "makes a scenario file from a public trace, a table of your own or another scenario");
  options.Group("Jobs");
  options.Positional("trace", "the trace, table or scenario to read");
  options.Value(
      "format", "",
      "its format: see berth list formats; table = any with a header line, berth = a scenario (.h5)");
  options.Value("columns", "", Join("of a table, FIELD=COLUMN,...; fields: ", JobFieldNames(), " [guessed]"));
  options.Input(
      "throughputs",
      "of a table, measured speeds (CSV): job_type, gpu_type, gpus, steps_per_s or s_per_step [every GPU "
      "type runs a job alike]");
  options.Switch("estimate-missing",
                 "of --throughputs: estimate speeds that it lacks from those it has (low-rank completion), "
                 "and say which");
  options.Value("skip-bad", "0", "rows of a table that may be left out because they cannot be read");
  AddSettingOptions(options, "the trace's own, where it states one", "the format's");
  options.Group("Changes, in this order");
  options.Value("jobs", "", "only jobs A:B");
  options.Value("cut", "", "only jobs that arrive from second A to B");
  options.Value("filter", "",
                "only jobs for which all hold, as 'gpus<=8,duration>=60,type=NAME,tenant!=NAME'");
  options.Value("scale-cluster", "", "this factor of the GPUs of each type, in whole nodes");
  options.Value("add", "", "more GPUs of types that are there: type=count,...");
  options.Value("scale-load", "", "this factor of the jobs an hour");
  options.Value("shuffle-arrivals", "", "a seed: which job arrives when is drawn anew");
  options.Group("Result");
  options.Output("out", "the scenario file to write");
  options.Output("starts", "of format decisions: who really ran when and where (.csv)");
  if (!options.Parse(arguments)) return 0;

  CheckScenarioWritable(options);
  const std::string starts = options.Text("starts");
  if (!starts.empty() && options.Text("format") != "decisions")
    throw Error(Join(options.Where("starts"), ": expected with it --format decisions, found ",
                     options.Text("format")));
  CheckWritable(starts, options.Where("starts"));
  WriteAndReport(options, Edited(Read(options), options));
  if (!starts.empty()) WriteTextFile(starts, StartsCsv(ReadDecisionStarts(options.Required("trace"))));
  return 0;
}

}  // namespace berth
