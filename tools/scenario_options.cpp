#include "tools/scenario_options.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "data/tables/cluster_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

constexpr double kLongest = 1e12;  // s
constexpr const char* kCostOptions[] = {"checkpoint-cost", "restore-cost", "migration-cost"};

Clock ParseClock(const Options& options) {
  return InOption(options, "clock", [&] { return Clock::Parse(options.Text("clock")); });
}

Knowledge ReadKnowledge(const Options& options) {
  return InOption(options, "knowledge", [&] { return ParseKnowledge(options.Text("knowledge")); });
}

bool AnyCostGiven(const Options& options) {
  for (const char* name : kCostOptions) {
    if (options.Given(name)) return true;
  }
  return false;
}

Costs ResolveCosts(const Options& options, Costs costs) {
  double* const members[] = {&costs.checkpoint_s, &costs.restore_s, &costs.migration_s};
  for (int i = 0; i < 3; ++i) {
    if (options.Given(kCostOptions[i])) *members[i] = options.Number(kCostOptions[i], 0.0, kLongest);
  }
  return costs;
}

// "none" first: nothing but what follows it.
bool StandAlone(const Options& options) {
  const std::vector<std::string> named = SplitOutsideParentheses(options.Text("features"), ';');
  return !named.empty() && named[0] == "none";
}

// Those of `own` that are not named stay.
Features ReadFeatures(const Options& options, const Features& own = {}) {
  return InOption(options, "features", [&] {
    const std::vector<std::string> named = SplitOutsideParentheses(options.Text("features"), ';');
    const bool alone = StandAlone(options);
    std::string text;
    for (std::size_t i = alone ? 1 : 0; i < named.size(); ++i) text += named[i] + ";";
    return ParseFeaturesBeside(alone ? Features() : own, text);
  });
}

// What --features says so that a file with features of its `own` has `features` again. `alone`: said with
// "none", to a reader of logs, whose `own` are not known here.
std::string SayAgain(const Features& features, const Features& own, bool alone) {
  const std::string text = ToString(features);
  if (!alone && ToString(ParseFeaturesBeside(own, text)) == text) return text;
  return text.empty() ? "none" : "none;" + text;
}

double ResolveSigma(const Options& options, Knowledge knowledge, double otherwise) {
  if (!options.Given("sigma")) return otherwise;
  if (knowledge != Knowledge::kEstimate) {
    throw Error(Join(options.Where("sigma"), ": expected only with knowledge 'estimate', found '",
                     ToString(knowledge), "'"));
  }
  return options.Number("sigma", 0.0, 10.0);
}

// What the text of a cluster's file says of features, which ReadConfigText leaves where the option is given.
Features FeaturesSaid(const Options& options, const std::string& settings) {
  constexpr std::string_view kKey = "features=";
  std::size_t at = settings.starts_with(kKey) ? 0 : settings.find("\nfeatures=");
  if (at == std::string::npos) return {};
  at = settings.find('=', at) + 1;
  return InOption(options, "cluster",
                  [&] { return ParseFeatures(settings.substr(at, settings.find('\n', at) - at)); });
}

ScenarioSettings ResolveSettings(Options& options, const char* default_cluster, const Clock& default_clock) {
  ScenarioSettings settings;
  Features own;  // of the cluster's file
  const bool beside = options.Given("features");
  const std::string cluster = options.Given("cluster") ? options.Text("cluster") : default_cluster;
  if (NamesClusterFile(cluster)) {
    const ClusterFile file = InOption(options, "cluster", [&] { return ReadClusterFile(cluster); });
    options.AddRead("cluster", cluster);
    if (beside) own = FeaturesSaid(options, file.settings);
    options.ReadConfigText(file.settings, cluster);
    settings.cluster = file.cluster, settings.tenants = file.tenants, settings.job_types = file.job_types;
    settings.origin_s = file.origin_s, settings.seed = file.seed;
  } else if (!cluster.empty() || options.Given("cluster")) {
    settings.cluster = InOption(options, "cluster", [&] { return ParseCluster(cluster); });
  }
  settings.clock = options.Given("clock") ? ParseClock(options) : default_clock;
  if (options.Given("knowledge")) settings.knowledge = ReadKnowledge(options);
  settings.estimate_sigma = ResolveSigma(options, settings.knowledge, 0.0);
  settings.costs = ResolveCosts(options, {});
  if (options.Given("features")) settings.features = ReadFeatures(options, own);
  return settings;
}

// Other formats and generators have their own tenants and types of jobs, or none: one file of the cluster
// serves them all.
void SayWhatIsOfTables(const ScenarioSettings& settings, const Options& options) {
  const std::pair<const char*, bool> all[] = {{"[[tenant]]", !settings.tenants.empty()},
                                              {"[[job_type]]", !settings.job_types.empty()},
                                              {"origin", settings.origin_s.has_value()},
                                              {"seed", settings.seed != 0}};
  std::string what;
  for (const auto& [name, there] : all) {
    if (there) what += Join(what.empty() ? "" : ", ", name);
  }
  if (!what.empty())
    std::cout << options.Text("cluster") << ": not used: " << what
              << ", which are of tables of jobs (--format " << kTableFormat << ")\n";
}

// A file's scenario with whatever the command line changes of it.
Scenario Override(Scenario scenario, const std::string& file, const Options& options) {
  if (options.Given("cluster")) {
    throw Error(Join(options.Where("cluster"), ": expected nothing, because ", file,
                     " holds its own cluster, found '", options.Text("cluster"), "'"));
  }
  if (options.Given("clock")) scenario = WithClock(scenario, ParseClock(options));
  if (options.Given("knowledge") || options.Given("sigma")) {
    const Knowledge knowledge =
        options.Given("knowledge") ? ReadKnowledge(options) : scenario.data().knowledge;
    scenario =
        WithKnowledge(scenario, knowledge, ResolveSigma(options, knowledge, scenario.data().estimate_sigma));
  }
  if (AnyCostGiven(options)) scenario = WithCosts(scenario, ResolveCosts(options, scenario.data().costs));
  if (options.Given("features")) {
    const Features features = ReadFeatures(options, scenario.data().features);
    scenario = InOption(options, "features", [&] { return WithFeatures(scenario, features); });
  }
  return scenario;
}

// What has another ending may be a log.
Scenario ReadScenarioOrSayFormat(const std::string& option, const Options& options) {
  const std::string& file = options.Text(option);
  try {
    return ReadScenario(file);
  } catch (const Error& error) {
    std::error_code ignored;  // a name that is too long, say
    const bool log = std::filesystem::is_regular_file(file, ignored) && !file.ends_with(".h5");
    throw Error(Join(options.Where(option), ": ", error.what(),
                     log ? Join("; if it is a log: ", options.Where("format"),
                                " and the name of its format, of 'berth list formats'")
                         : ""));
  }
}

}  // namespace

void AddSettingOptions(Options& options, const std::string& cluster, const std::string& clock) {
  options.Group("Cluster");
  options.Value("cluster", "",
                Join("GPU types: name=count[/per node],... or a file (.toml) [", cluster, "]"));
  options.Value("clock", "", Join("event | rounds(SECONDS) | reference_rounds | hpc [", clock, "]"));
  options.Value("knowledge", "",
                "most that may be known: none | blind | estimate | oracle [the file's; oracle]");
  options.Value("sigma", "", "of knowledge estimate: true remaining work x lognormal(0, sigma)");
  options.Value("checkpoint-cost", "", "seconds to stop a job [the file's; 0]");
  options.Value("restore-cost", "", "seconds to start a stopped job again [the file's; 0]");
  options.Value("migration-cost", "", "seconds on top when it continues elsewhere [the file's; 0]");
  options.Value("features", "",
                "NAME(setting=value);NAME of berth list features, beside the file's own; none;NAME: alone "
                "[the file's; none]");
}

void AddScenarioOptions(Options& options) {
  options.Audits();
  options.Group("Jobs");
  options.Input("scenario", "a scenario file (.h5), or with --format a trace");
  options.Value("format", "", "of --scenario when it is a trace: see berth list formats");
  options.Value("workload", "", Join("generator spec: see berth list workloads [", kDefaultWorkload, "]"));
  AddSettingOptions(options, kDefaultCluster, "the file's or format's; rounds(360)");
}

WorkloadChoice ResolveWorkload(Options& options) {
  const std::string file = options.Text("scenario");
  if (file.empty()) {
    if (options.Given("format")) {
      throw Error(Join(options.Where("format"), ": expected ", options.Where("scenario"),
                       " with it, the trace, found none"));
    }
    return {ResolveGenerator(options), !options.Given("workload")};
  }
  if (options.Given("workload")) {
    throw Error(
        Join("expected ", options.Where("scenario"), " or ", options.Where("workload"), ", found both"));
  }
  const bool trace = options.Given("format");
  const Scenario own =
      trace ? ReadTrace(file, options.Text("format"), options) : ReadScenarioOrSayFormat("scenario", options);
  Scenario scenario = trace ? own : Override(own, file, options);
  options.Assign("scenario", std::filesystem::absolute(file).lexically_normal().string());
  options.Assign("clock", scenario.data().clock.ToString());
  options.Assign("knowledge", ToString(scenario.data().knowledge));
  options.Assign("features",
                 SayAgain(scenario.data().features, own.data().features, trace && StandAlone(options)));
  return {FixedSource(std::move(scenario), options.Text("scenario")), false};
}

// The default's gangs are of up to 8 GPUs of one type; a cluster without as many gets single jobs.
static std::string DefaultWorkload(const ClusterSpec& cluster) {
  constexpr int kLargestGang = 8;
  const bool fits = std::any_of(cluster.types.begin(), cluster.types.end(),
                                [](const GpuType& type) { return type.count >= kLargestGang; });
  return fits ? kDefaultWorkload : "synthetic(rate=1.8,jobs=1000)";
}

std::shared_ptr<const ScenarioSource> ResolveGenerator(Options& options) {
  const ScenarioSettings settings =
      ResolveSettings(options, kDefaultCluster, Clock{ClockKind::kRounds, 360.0});
  SayWhatIsOfTables(settings, options);
  if (!options.Given("workload")) options.Assign("workload", DefaultWorkload(settings.cluster));
  options.Assign("cluster",
                 NamesClusterFile(options.Text("cluster"))
                     ? std::filesystem::absolute(options.Text("cluster")).lexically_normal().string()
                     : ClusterText(settings.cluster));
  options.Assign("clock", settings.clock.ToString());
  options.Assign("knowledge", ToString(settings.knowledge));
  return InOption(options, "workload", [&] { return MakeWorkload(options.Text("workload"), settings); });
}

Scenario ReadScenarioFile(const std::string& option, const Options& options) {
  return Override(ReadScenarioOrSayFormat(option, options), options.Text(option), options);
}

JobTableScenario ReadTableQuietly(const std::string& path, const JobTableRequest& request, Options& options) {
  return ReadJobTable(path, request, ResolveSettings(options, "", FindFormat(kTableFormat).default_clock));
}

Scenario ReadTable(const std::string& path, const JobTableRequest& request, Options& options) {
  JobTableScenario table = ReadTableQuietly(path, request, options);
  for (const std::string& note : table.notes) std::cout << note << "\n";
  for (const std::string& row : table.refused) std::cout << "left out: " << row << "\n";
  if (const std::size_t rows = table.refused.size(); rows > 1) std::cout << "left out: " << rows << " rows\n";
  return std::move(table.scenario);
}

Scenario ReadTrace(const std::string& path, const std::string& format, Options& options) {
  if (format == kTableFormat) return ReadTable(path, {}, options);
  const FormatInfo& info = *InOption(options, "format", [&] { return &FindFormat(format); });
  ScenarioSettings settings = ResolveSettings(options, "", info.default_clock);
  SayWhatIsOfTables(settings, options);
  settings.origin_s.reset();
  if (info.beside != nullptr) {
    for (const std::string& file : info.beside(path)) options.AddRead("format", file);
  }
  return info.read(path, settings);
}

Scenario EvaluationScenario(const ScenarioSource& source, std::uint64_t seed) {
  return source.Make(seed, Split::kEvaluate, /*env=*/0, /*episode=*/0);
}

Window ResolveWindow(const Options& options, int jobs, const std::string& name) {
  if (options.Text(name).empty()) return {0, jobs};
  const auto [begin, end] = options.Range(name);
  if (end > jobs) {
    throw Error(Join(options.Where(name), ": expected a range within the ", Counted(jobs, "job"), ", found ",
                     options.Text(name)));
  }
  return {static_cast<int>(begin), static_cast<int>(end)};
}

void AddMaxTime(Options& options) {
  options.Value(
      "max-time", "",
      "end a run at its first decision after so many simulated seconds, whatever is unfinished [none]");
}

double MaxTime(const Options& options) {
  return options.Given("max-time") ? options.Number("max-time", 0.0, 1e15) : kNever;
}

std::string ClusterText(const ClusterSpec& cluster) {
  std::string text;
  for (const GpuType& type : cluster.types) {
    text += Join(text.empty() ? "" : ",", type.name, "=", type.count);
    if (type.gpus_per_node > 1) text += Join("/", type.gpus_per_node);
  }
  return text;
}

// Of each feature as much as fits a line: lists of a thousand jobs stand in scenario files.
static std::string FeaturesText(const Features& features) {
  constexpr std::size_t kMost = 300, kShown = 100;
  std::string text;
  for (const std::string& its : SplitOutsideParentheses(ToString(features), ';')) {
    text += text.empty() ? "" : ";";
    text += its.size() <= kMost ? its : Join(its.substr(0, kShown), "... ", its.size(), " characters)");
  }
  return text;
}

std::string SettingsText(const Scenario& scenario) {
  const ScenarioData& data = scenario.data();
  std::string text = Join("clock ", data.clock.ToString(), ", knowledge ", ToString(data.knowledge));
  if (data.knowledge == Knowledge::kEstimate) text += Join("(sigma=", data.estimate_sigma, ")");
  text += Join(", cluster ", ClusterText(data.cluster));
  if (data.costs.checkpoint_s + data.costs.restore_s + data.costs.migration_s > 0.0) {
    text += Join(", checkpoint ", data.costs.checkpoint_s, " s, restore ", data.costs.restore_s,
                 " s, migration ", data.costs.migration_s, " s");
  }
  if (data.features.any()) text += Join(", features ", FeaturesText(data.features));
  return text;
}

std::string ScenarioText(const Scenario& scenario) {
  std::string text = Join(SettingsText(scenario), ", ", Counted(scenario.num_jobs(), "job"));
  int parts = 0;
  for (int job = 0; job < scenario.num_jobs(); ++job) parts += scenario.HoldsPart(job) ? 1 : 0;
  if (parts > 0 && !scenario.data().features.PartsSuffice())
    text += Join(", ", parts,
                 " of them on parts of GPUs, which give that part of the speed (share_suffices=false)");
  return text;
}

}  // namespace berth
