// berth generate: a workload generator's scenario as a file; and a generator that is like a log.
#include <iostream>

#include "data/like/model.hpp"
#include "data/workloads.hpp"
#include "env/base/counted.hpp"
#include "env/base/shortest.hpp"
#include "tools/like/check.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/plot_script.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr int kDraws = 30;

// What says which generator and which cluster: a log has both.
void CheckAlone(const Options& options) {
  for (const char* name : {"workload", "cluster", "clock", "knowledge", "sigma", "checkpoint-cost",
                           "restore-cost", "migration-cost", "features"}) {
    if (options.Given(name))
      throw Error(Join(options.Where(name), ": expected none beside ", options.Where("like"), ", found '",
                       options.Text(name), "'"));
  }
}

void Check(const Options& options, const Scenario& log, const std::vector<std::string>& arguments,
           std::uint64_t seed, Json& json) {
  const std::string& folder = options.Text("check");
  const LikeCheck check = InOption(options, "like", [&] { return CheckLike(log, seed, kDraws); });
  const std::string command = "berth " + SameCommand("generate", arguments);
  WriteTextFile(folder + "/" + kLikePage, LikeCheckPage(check, command));
  WriteTextFile(folder + "/" + kLikeCsv, LikeCheckCsv(check));
  std::cout << LikeCheckTable(check);
  if (const std::string failed = RunPlotScript("like/plot_like.py", {folder}); !failed.empty())
    std::cout << failed << "\n";
  std::cout << folder << "/" << kLikePage << "\n";
  json["check"] = LikeCheckJson(check);
}

void WriteModel(const Options& options, const Scenario& log, Json& json) {
  const std::string &file = options.Text("like"), &out = options.Text("out");
  const LikeModel model = InOption(options, "like", [&] { return FitLike(log); });
  const std::vector<double>& arrival = log.data().jobs.arrival;
  const std::string comment = Join("# Jobs like those of ", file, ": ", log.num_jobs(), " of ",
                                   Fixed((arrival.back() - arrival.front()) / 86400.0, 1),
                                   " days. In use: --workload 'like(file=", out, ")'\n");
  WriteTextFile(out, LikeToml(model, comment));
  const std::string left_out = LikeLeavesOut(log);
  std::cout << out << ": " << Counted(model.classes.size(), "class", "classes") << " of jobs of "
            << Counted(model.users.size(), "user") << ", " << InWords(model.per_hour) << " jobs an hour\n";
  if (!left_out.empty()) std::cout << "not in it: " << left_out << "\n";
  std::cout << NextStep("jobs drawn from it",
                        Join("generate --workload ", ForShell(Join("like(file=", out, ")")), " --cluster ",
                             ForShell(ClusterText(log.data().cluster)), " --out drawn.h5"));
  json["model"] = {{"file", out},
                   {"classes", model.classes.size()},
                   {"users", model.users.size()},
                   {"per_hour", model.per_hour},
                   {"left_out", left_out}};
}

int Like(const Options& options, const std::vector<std::string>& arguments, std::uint64_t seed) {
  CheckAlone(options);
  const bool check = options.Given("check");
  if (!check || options.Given("out")) CheckWritable(options.Required("out"), options.Where("out"));
  CheckJsonWritable(options);
  const Scenario log = InOption(options, "like", [&] { return ReadScenario(options.Text("like")); });
  Json json = {{"config", ConfigJson(options)}};
  if (check) MakeFolder(options.Text("check"), options.Where("check"));
  if (options.Given("out")) WriteModel(options, log, json);
  if (check) Check(options, log, arguments, seed, json);
  WriteJson(options, json);
  return 0;
}

}  // namespace

int RunGenerate(const std::vector<std::string>& arguments) {
  Options options("generate", "--workload SPEC --cluster CLUSTER --seed N --out FILE",
                  "makes a scenario file from a workload generator, or a generator that is like a log");
  options.Group("Jobs");
  options.Value("workload", "", Join("generator spec: see berth list workloads [", kDefaultWorkload, "]"));
  AddSettingOptions(options, kDefaultCluster, "rounds(360)");
  options.Group("Jobs");
  options.Value("seed", "1000", "of the workload: what berth evaluate draws for this seed");
  options.Group("Jobs like those of a log");
  options.Input("like",
                "a scenario file of the log, by berth convert: fits a model to it, for like(file=MODEL)");
  options.Value(
      "check", "",
      "folder for a page that says how much drawn jobs are like real ones: the model of the earlier three "
      "quarters of the log against the rest");
  options.Group("Result");
  options.Output("out", "the scenario file to write; of --like the model (.toml)");
  if (!options.Parse(arguments)) return 0;

  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  if (options.Given("like")) return Like(options, arguments, seed);
  if (options.Given("check"))
    throw Error(
        Join(options.Where("check"), ": expected ", options.Where("like"), " with it, the log, found none"));
  CheckScenarioWritable(options);
  WriteAndReport(options, EvaluationScenario(*ResolveGenerator(options), seed));
  return 0;
}

}  // namespace berth
