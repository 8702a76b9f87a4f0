// berth convert: a public trace as a scenario file.
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/verbs.hpp"

namespace berth {

int RunConvert(const std::vector<std::string>& arguments) {
  Options options("convert", "--format NAME TRACE --cluster CLUSTER --out FILE",
                  "makes a scenario file from a public trace");
  options.Group("Jobs");
  options.Positional("trace", "the trace to read");
  options.Value("format", "", "a trace format: see berth list formats");
  AddSettingOptions(options, "the trace's own, where it states one", "the format's");
  options.Group("Result");
  options.Output("out", "the scenario file to write");
  if (!options.Parse(arguments)) return 0;

  const std::string trace = options.Required("trace");
  CheckScenarioWritable(options);
  WriteAndReport(options, ReadTrace(trace, options.Required("format"), options));
  return 0;
}

}  // namespace berth
