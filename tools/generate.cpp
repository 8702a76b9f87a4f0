// berth generate: a workload generator's scenario as a file.
#include "data/workloads.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/verbs.hpp"

namespace berth {

int RunGenerate(const std::vector<std::string>& arguments) {
  Options options("generate", "--workload SPEC --cluster CLUSTER --seed N --out FILE",
                  "makes a scenario file from a workload generator");
  options.Group("Jobs");
  options.Value("workload", "", Join("generator spec: see berth list workloads [", kDefaultWorkload, "]"));
  AddSettingOptions(options, kDefaultCluster, "rounds(360)");
  options.Group("Jobs");
  options.Value("seed", "1000", "of the workload: what berth evaluate draws for this seed");
  options.Group("Result");
  options.Output("out", "the scenario file to write");
  if (!options.Parse(arguments)) return 0;

  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  CheckScenarioWritable(options);
  WriteAndReport(options, EvaluationScenario(*ResolveGenerator(options), seed));
  return 0;
}

}  // namespace berth
