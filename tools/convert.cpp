// berth convert: a public trace, a table of one's own or another scenario as a scenario file.
#include <iostream>

#include "data/edit.hpp"
#include "data/tables/job_table.hpp"
#include "env/base/check.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

// Formats that are not in the list of traces, or can do more than it says.
constexpr const char* kTable = "table";
constexpr const char* kBerth = "berth";
constexpr const char* kTableOptions[] = {"columns", "throughputs", "skip-bad"};
constexpr double kMostFactor = 1e6;

Scenario ReadTable(const std::string& path, Options& options) {
  const JobTableRequest request{options.Text("columns"), options.Text("throughputs"),
                                static_cast<int>(options.Integer("skip-bad", 0, 1'000'000'000))};
  JobTableScenario table = ReadJobTable(path, request, ResolveTraceSettings(kTable, options));
  for (const std::string& note : table.notes) std::cout << note << "\n";
  for (const std::string& row : table.refused) std::cout << "left out: " << row << "\n";
  return std::move(table.scenario);
}

Scenario Read(Options& options) {
  const std::string trace = options.Required("trace"), format = options.Required("format");
  for (const char* name : kTableOptions) {
    if (options.Given(name) && format != kTable)
      throw Error(Join(options.Where(name), ": expected with it ", options.Where("format"), " ", kTable, ", found ",
                       format));
  }
  if (format == kTable) return ReadTable(trace, options);
  if (format == kBerth) return ReadScenarioFile("trace", options);
  return ReadTrace(trace, format, options);
}

// In the order of the options' list.
Scenario Edited(Scenario scenario, const Options& options) {
  const auto edit = [&](const char* name, const auto& make) {
    if (options.Given(name)) scenario = InOption(options, name, make);
  };
  edit("jobs", [&] {
    const auto [begin, end] = options.Range("jobs");
    if (end > scenario.num_jobs())
      throw Error(Join("expected a range within the ", scenario.num_jobs(), " jobs, found ", options.Text("jobs")));
    return Slice(scenario, static_cast<int>(begin), static_cast<int>(end));
  });
  edit("cut", [&] {
    const auto [begin, end] = options.Range("cut");
    return ArrivingIn(scenario, static_cast<double>(begin), static_cast<double>(end));
  });
  edit("filter", [&] { return FilterJobs(scenario, options.Text("filter")); });
  edit("scale-cluster", [&] { return ScaleCluster(scenario, options.Number("scale-cluster", 1.0 / kMostFactor, kMostFactor)); });
  edit("add", [&] { return AddGpus(scenario, options.Text("add")); });
  edit("scale-load", [&] { return ScaleLoad(scenario, options.Number("scale-load", 1.0 / kMostFactor, kMostFactor)); });
  edit("shuffle-arrivals", [&] {
    return ShuffleArrivals(scenario, static_cast<std::uint64_t>(options.Integer("shuffle-arrivals", 0, INT64_MAX)));
  });
  return scenario;
}

}  // namespace

int RunConvert(const std::vector<std::string>& arguments) {
  Options options("convert", "--format NAME TRACE --cluster CLUSTER --out FILE",
                  "makes a scenario file from a public trace, a table of your own or another scenario");
  options.Group("Jobs");
  options.Positional("trace", "the trace, table or scenario to read");
  options.Value("format", "", "its format: see berth list formats; table = any with a header line, berth = a scenario (.h5)");
  options.Value("columns", "",
                "of a table, FIELD=COLUMN,...: id, arrival, duration (or start and end, or steps), gpus, type, tenant, "
                "weight, deadline, limit, ran_on [guessed from usual names]");
  options.Input("throughputs",
                "of a table, measured speeds (CSV): job_type, gpu_type, gpus, steps_per_s or s_per_step [every GPU "
                "type runs a job alike]");
  options.Value("skip-bad", "0", "rows of a table that may be left out because they cannot be read");
  AddSettingOptions(options, "the trace's own, where it states one", "the format's");
  options.Group("Changes, in this order");
  options.Value("jobs", "", "only jobs A:B");
  options.Value("cut", "", "only jobs that arrive from second A to B");
  options.Value("filter", "", "only jobs for which all hold, as 'gpus<=8,duration>=60,type=NAME,tenant!=NAME'");
  options.Value("scale-cluster", "", "this factor of the GPUs of each type, in whole nodes");
  options.Value("add", "", "more GPUs of types that are there: type=count,...");
  options.Value("scale-load", "", "this factor of the jobs an hour");
  options.Value("shuffle-arrivals", "", "a seed: which job arrives when is drawn anew");
  options.Group("Result");
  options.Output("out", "the scenario file to write");
  if (!options.Parse(arguments)) return 0;

  CheckScenarioWritable(options);
  WriteAndReport(options, Edited(Read(options), options));
  return 0;
}

}  // namespace berth
