// berth convert: a public trace or a table of one's own as a scenario file.
#include <iostream>

#include "data/tables/job_table.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr const char* kTable = "table";  // the format whose columns can be named

constexpr const char* kTableOptions[] = {"columns", "throughputs", "skip-bad"};

Scenario ReadTable(const std::string& path, Options& options) {
  const JobTableRequest request{options.Text("columns"), options.Text("throughputs"),
                                static_cast<int>(options.Integer("skip-bad", 0, 1'000'000'000))};
  JobTableScenario table = ReadJobTable(path, request, ResolveTraceSettings(kTable, options));
  for (const std::string& note : table.notes) std::cout << note << "\n";
  for (const std::string& row : table.refused) std::cout << "left out: " << row << "\n";
  return std::move(table.scenario);
}

}  // namespace

int RunConvert(const std::vector<std::string>& arguments) {
  Options options("convert", "--format NAME TRACE --cluster CLUSTER --out FILE",
                  "makes a scenario file from a public trace or from a table of your own");
  options.Group("Jobs");
  options.Positional("trace", "the trace or table to read");
  options.Value("format", "", "its format: see berth list formats; table = any with a header line");
  options.Value("columns", "",
                "of a table, FIELD=COLUMN,...: id, arrival, duration (or start and end, or steps), gpus, type, tenant, "
                "weight, deadline, limit, ran_on [guessed from usual names]");
  options.Input("throughputs",
                "of a table, measured speeds (CSV): job_type, gpu_type, gpus, steps_per_s or s_per_step [every GPU "
                "type runs a job alike]");
  options.Value("skip-bad", "0", "rows of a table that may be left out because they cannot be read");
  AddSettingOptions(options, "the trace's own, where it states one", "the format's");
  options.Group("Result");
  options.Output("out", "the scenario file to write");
  if (!options.Parse(arguments)) return 0;

  const std::string trace = options.Required("trace"), format = options.Required("format");
  for (const char* name : kTableOptions) {
    if (options.Given(name) && format != kTable)
      throw Error(Join(options.Where(name), ": expected with it ", options.Where("format"), " ", kTable, ", found ", format));
  }
  CheckScenarioWritable(options);
  WriteAndReport(options, format == kTable ? ReadTable(trace, options) : ReadTrace(trace, format, options));
  return 0;
}

}  // namespace berth
