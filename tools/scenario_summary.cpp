#include "tools/scenario_summary.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "data/workloads.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/scenario_defaults.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct ScenarioFigures {
  double first_arrival_s = 0, last_arrival_s = 0;
  double rate_per_h = 0;     // arrivals
  double fastest_gpu_h = 0;  // work: GPU-hours if every job ran alone on its fastest type
  std::map<int, int> gangs;  // jobs of each gang size
};

ScenarioFigures Summarize(const Scenario& scenario) {
  const JobTable& jobs = scenario.data().jobs;
  ScenarioFigures summary;
  for (int job = 0; job < jobs.size(); ++job) {
    const auto j = static_cast<std::size_t>(job);
    ++summary.gangs[jobs.gang[j]];
    summary.fastest_gpu_h +=
        jobs.total_steps[j] / scenario.BestRate(job) * scenario.WorkingGpus(job) / 3600.0;
  }
  if (jobs.size() > 0)
    summary.first_arrival_s = jobs.arrival.front(), summary.last_arrival_s = jobs.arrival.back();
  const double span = summary.last_arrival_s - summary.first_arrival_s;
  if (span > 0.0) summary.rate_per_h = (jobs.size() - 1) / span * 3600.0;
  return summary;
}

std::string LoadText(const Scenario& scenario) {
  if (scenario.num_jobs() == 0) return "";
  const double load = NumbersOf(*FixedSource(scenario, "")).load;
  if (load == 0.0) return "all jobs come at once\n";
  return Join("load ", Fixed(load, 2), " of what the cluster can work off at best",
              load > 1.0 ? ": queues grow under every scheduler, until arrivals end\n" : "\n");
}

}  // namespace

Json ScenarioJson(const Scenario& scenario) {
  const ScenarioData& data = scenario.data();
  const ScenarioFigures summary = Summarize(scenario);
  Json json;
  json["name"] = data.name;
  json["provenance"] = data.provenance;
  json["cluster"] = ClusterText(data.cluster);
  json["gpus"] = scenario.num_whole_gpus();
  json["jobs"] = scenario.num_jobs();
  json["job_types"] = data.throughputs.job_types.size();
  json["clock"] = data.clock.ToString();
  json["knowledge"] = ToString(data.knowledge);
  json["estimate_sigma"] = data.estimate_sigma;
  json["costs"] = {{"checkpoint_s", data.costs.checkpoint_s},
                   {"restore_s", data.costs.restore_s},
                   {"migration_s", data.costs.migration_s}};
  json["features"] = ToString(data.features);
  json["seed"] = data.seed;
  json["first_arrival_s"] = summary.first_arrival_s;
  json["last_arrival_s"] = summary.last_arrival_s;
  json["arrivals_per_h"] = summary.rate_per_h;
  json["fastest_gpu_h"] = summary.fastest_gpu_h;
  Json gangs = Json::object();
  for (const auto& [gang, count] : summary.gangs) gangs[std::to_string(gang)] = count;
  json["jobs_by_gang"] = gangs;
  json["hash"] = HexSignature(scenario.Hash());
  return json;
}

std::string ScenarioReport(const Scenario& scenario) {
  const ScenarioFigures summary = Summarize(scenario);
  std::string gangs;
  for (const auto& [gang, count] : summary.gangs)
    gangs += Join(gangs.empty() ? "" : ", ", count, " x ", gang, " GPU");
  return Join(ScenarioText(scenario), "\n", "arrivals over ",
              Hours(summary.last_arrival_s - summary.first_arrival_s), " h (", Fixed(summary.rate_per_h, 2),
              " jobs/h), gangs ", gangs.empty() ? "none" : gangs, ", ", Fixed(summary.fastest_gpu_h, 1),
              " GPU-hours on the fastest types\nfrom ", scenario.data().provenance, ", hash ",
              HexSignature(scenario.Hash()), "\n");
}

void CheckScenarioWritable(const Options& options) {
  CheckWritable(options.Required("out"), options.Where("out"), "scenario");
  CheckJsonWritable(options);
}

void WriteAndReport(const Options& options, const Scenario& scenario) {
  const std::string& out = options.Required("out");
  WriteScenario(scenario, out);
  Json json = ScenarioJson(scenario);
  json["file"] = out;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  const std::string same = " --scenario " + ForShell(out);
  std::cout << out << ": " << ScenarioReport(scenario) << LoadText(scenario) << NextOfScenario(out, scenario)
            << NextStep("a policy for it, which keeps jobs back to compare on",
                        Join("train", same, TrainingPart(scenario.num_jobs()), " --out run"));
}

}  // namespace berth
