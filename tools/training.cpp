#include "tools/training.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "env/base/whole_file.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/vec_env.hpp"
#include "policies/architecture.hpp"
#include "tools/from_options.hpp"
#include "tools/learn_library.hpp"
#include "tools/metric_columns.hpp"
#include "tools/output_file.hpp"
#include "tools/run_folder.hpp"
#include "tools/train_recipes.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// Of several processes on one machine each takes its part of the cores.
World ResolveWorld(Options& options) {
  const World world = ReadWorld();
  CheckMeetingPoint(world);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (world.many() && world.local_size > 1 && !options.Given("threads"))
    options.Assign("threads", std::to_string(std::max(1, cores / world.local_size)));
  return world;
}

// Whether a network takes the units of all members together.
bool StandSideBySide(const TrainRequest& request, const ObservationLayout& layout) {
  try {
    Describe(WidenArchitecture(request.network, request.members), layout, layout.q * layout.g + 1);
    return true;
  } catch (const Error&) {  // what is wrong with one of them too is said where it is made
    return false;
  }
}

constexpr const char* kHolder = "berth train";

// It alone has --dry-run.
bool OnCommandLine(const Options& options) {
  const auto values = options.Resolved();
  return std::any_of(values.begin(), values.end(), [](const auto& it) { return it.first == "dry-run"; });
}

// A run is continued where one is, with its options, and begun where none is.
void CheckFolder(const Options& options, const std::string& folder, bool resume) {
  const std::string checkpoint = folder + "/checkpoint.h5";
  const bool exists = std::filesystem::exists(checkpoint);
  for (const std::string& file : {checkpoint, folder + "/config.ini"}) {
    if (resume && !std::filesystem::exists(file))
      throw Error(Join(options.Where("resume"), ": expected ", file, ", found no such file"));
  }
  if (resume || !exists) return;
  const std::string on = OnCommandLine(options)
                             ? Join("'", CommandName(), " train --resume --out ", folder, "'")
                             : std::string("resume=True");
  throw Error(Join(options.Where("out"), ": ", folder, " already holds a run; continue it with ", on,
                   " or choose another folder"));
}

std::string ResolveDevice(const Options& options) {
  const std::vector<std::string> known{"auto", "cpu", "cuda"};
  const std::string& device = options.Text("device");
  if (std::find(known.begin(), known.end(), device) == known.end()) {
    throw Error(Join(options.Where("device"), ": expected auto, cpu or cuda, found '", device, "'",
                     DidYouMean(device, known)));
  }
  return device;
}

std::string ConfigOfRun(const Options& options) {
  std::string text =
      "# the resolved configuration: berth train --config reads it, --resume --out reads it by itself\n";
  for (const auto& [name, value] : options.Resolved()) {
    if (name != "out" && name != "resume" && name != "dry-run") text += name + "=" + value + "\n";
  }
  return text;
}

// It has all features of the run, though versions before wrote those alone as if a scenario's own came beside
// them, and nothing where there were none.
void ReadConfigOfRun(Options& options, const std::string& path) {
  const bool asked = options.Given("features");
  options.ReadConfig(path);
  if (asked || !options.Given("scenario") || options.Given("format")) return;
  if (!options.Given("features")) options.ReadConfigText("features=none\n", path);
  const std::string& features = options.Text("features");
  if (!features.starts_with("none")) options.Assign("features", "none;" + features);
}

// Of a few episodes: parts of a mix may differ.
bool DrawsDeadlines(const ScenarioSource& source, const Scenario& sample) {
  if (HaveDeadlines({&sample, 1})) return true;
  constexpr std::uint32_t kEpisodes = 256;
  constexpr int kJobs = 20;
  for (std::uint32_t env = 0; !source.fixed() && env < kEpisodes; ++env) {
    const Scenario episode = source.Make(0, Split::kTrain, env, 0, kJobs);
    if (HaveDeadlines({&episode, 1})) return true;
  }
  return false;
}

void CheckNamed(const Options& options, const char* option, const std::vector<LearnInfo>& known) {
  std::vector<std::string> names;
  for (const LearnInfo& info : known) names.push_back(info.name);
  const std::string name = InOption(options, option, [&] { return ParseSpec(options.Text(option)).name; });
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(Join(options.Where(option), ": unknown ", option, " '", name, "'", DidYouMean(name, names),
                     "; '", CommandName(), " list ", option, "s' has them"));
}

}  // namespace

void AddTrainingOptions(Options& options, bool flags) {
  options.Group("Learner");
  options.Value("agent", "ppo", "learner spec: see berth list agents");
  options.Value("recipe", "default", RecipesHelp());
  options.Value("network", "pair_scorer(width=8,skip=true)", "network spec: see berth list networks");
  AddScenarioOptions(options);
  options.Group("Training");
  options.Value("steps", "1000000", "environment steps in all, those before --resume included");
  options.Value("members", "auto", MembersHelp());
  options.Value("seconds", "0", "stop after this much training time; 0 = no limit");
  options.Value("envs", "32", "environments stepped together, of all processes where there are several");
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                "worker threads of this process");
  options.Value("seed", "0", "of workloads, weights and exploration");
  options.Value("device", "auto",
                "cpu | cuda, the first GPU | auto: cuda where there is one and the network is an mlp");
  MdpSpec defaults;
  defaults.encoder = defaults.actions = kAuto;
  AddProcessOptions(options, defaults);
  AddEpisodeOptions(options, /*warmup=*/true, "auto");
  options.Group("Run");
  options.Value("out", "",
                "folder of the run: checkpoint.h5, config.ini, progress.csv, TensorBoard's events");
  options.Input("from",
                "begin with the weights of this policy.h5; network, encoder and process not given are its");
  TrainValidation::AddOptions(options);
  options.Group("Training");
  options.Value("dist-timeout", "300", "seconds that processes wait for one that does not come or hangs");
  options.Group("Run");
  if (flags) options.Switch("dry-run", "resolve every option, say what would be trained, and stop");
  options.Switch("resume", "continue the run in --out; options not given are those of its config.ini");
  if (!flags) return;
  options.Everyday({"agent", "recipe", "scenario", "format", "workload", "cluster", "knowledge", "features",
                    "steps", "seconds", "threads", "seed", "reward", "jobs", "out", "from", "validate",
                    "dry-run", "resume"});
}

Training::Training(Options& options, const std::string& commit) {
  const std::string out = options.Required("out");
  const bool resume = options.Bool("resume");
  const bool only_said = OnCommandLine(options) && options.Bool("dry-run");
  // Before anything in a run is read, so that nothing is continued that another process goes on with.
  if (!only_said && ReadWorld().rank == 0 && std::filesystem::exists(out + "/checkpoint.h5"))
    lock_ = std::make_unique<FolderLock>(out, options.Where("out"), kHolder);
  CheckFolder(options, out, resume);
  for (const auto& [name, why] : {std::pair{"from", ", whose checkpoint has the weights"},
                                  std::pair{"recipe", ", which goes on as the run began"}}) {
    if (resume && options.Given(name))
      throw Error(
          Join(options.Where(name), ": expected without ", options.Where("resume"), why, ", found both"));
  }
  if (resume) ReadConfigOfRun(options, out + "/config.ini");
  const bool members_by_itself = options.Text("members") == "auto";
  ApplyRecipe(options);
  for (const char* file : kRunFiles) options.AddRead("out", out + "/" + file);
  if (!resume && options.Given("from")) TakeOptionsOfPolicy(options);
  request.world = ResolveWorld(options);

  request.dist_timeout_s = options.Number("dist-timeout", 0.1, 1e6);
  request.agent = options.Text("agent");
  request.network = options.Text("network");
  request.steps = options.Integer("steps", 1, kMostSteps);
  request.members = static_cast<int>(options.Integer("members", 1, kMostMembers));
  request.seconds = options.Number("seconds", 0.0, 1e9);
  request.threads = static_cast<int>(options.Integer("threads", 1, 4096));
  request.seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  request.device = ResolveDevice(options);
  request.out_dir = out;
  request.resume = resume;
  request.from = options.Text("from");
  request.commit = commit;

  choice_ = ResolveEnvironment(options, request.seed);
  const Scenario& sample = choice_.sample;
  request.mdp = choice_.env.mdp;
  for (const GpuType& type : sample.data().cluster.types) request.gpu_types.push_back(type.name);
  request.workload = choice_.source->Describe();
  request.environment =
      Join(SettingsText(sample), "; episodes of ", choice_.env.episode_jobs, " jobs after up to ",
           choice_.env.warmup_jobs, " of warm-up; learned from ", choice_.env.signal);
  if (choice_.source->fixed()) {
    request.environment += Join("; jobs ", options.Text("jobs").empty() ? "all" : options.Text("jobs"),
                                " of scenario ", sample.Hash());
  }
  if (request.mdp.reward.find("deadline") != std::string::npos && !DrawsDeadlines(*choice_.source, sample))
    throw Error(
        Join(options.Where("reward"),
             ": deadline: expected jobs with deadlines, as synthetic(slo=true) draws them, found none"));
  num_envs_ = static_cast<int>(options.Integer("envs", 1, 65536));
  const ObservationLayout layout =
      InOption(options, "actions", [&] { return LayoutOf(request.mdp, sample); });
  if (members_by_itself) {
    while (request.members > 1 && !StandSideBySide(request, layout)) --request.members;
    options.Assign("members", std::to_string(request.members));
  }
  CheckObservations(num_envs_, layout.size(), Join(options.Where("visible"), ", ", options.Where("envs")));
  validation_ = TrainValidation::Make(options, choice_, request);
  words_ = TrainingWords({.load = choice_.numbers.load,
                          .signal_is_reward = choice_.env.signal == "reward",
                          .keeps_best = validation_ && validation_->keeps_best()});
}

void Training::Open(const Options& options) {
  if (num_envs_ < request.world.size) {
    throw Error(Join(options.Where("envs"), ": expected at least one for each of ", request.world.size,
                     " processes (", request.world.size_variable, "), found ", num_envs_));
  }
  const auto [first, end] = PartOfRank(num_envs_, request.world.rank, request.world.size);
  choice_.env.first_env = first;
  choice_.env.all_envs = request.all_envs = num_envs_;
  env_ = MakeVecEnv(choice_.source, choice_.env, end - first, request.threads);
  request.env = env_.get();
  metric_ = env_->metric_name();
  if (validation_) validation_->Attach(request);
  learners_ = &OpenLearnLibrary();
  CheckNamed(options, "agent", learners_->agents());
  CheckNamed(options, "network", learners_->networks());
  device_ = learners_->device(request.device, request.network);  // before anything is written
  request.config = ConfigOfRun(options);
}

TrainOutcome Training::Run(const Options& options) {
  // What is refused leaves no folder, no options in one that is there, and one line.
  const std::string& out = request.out_dir;
  std::filesystem::path made;  // the uppermost folder that there was not
  if (writes() && lock_ == nullptr) {
    for (std::filesystem::path at = out; !at.empty() && !std::filesystem::exists(at); at = at.parent_path())
      made = at;
    lock_ = std::make_unique<FolderLock>(out, options.Where("out"), kHolder);
    CheckFolder(options, out, request.resume);  // another one may have begun and ended meanwhile
  }
  if (writes()) RemoveUnfinished(out);
  bool begun = false;
  TrainRequest asked = request;
  asked.on_begin = [&] {
    begun = true;
    WriteTextFile(request.out_dir + "/config.ini", request.config);
    if (request.on_begin) request.on_begin();
  };
  try {
    return learners_->train(asked);
  } catch (const Error& error) {
    if (!made.empty() && !begun) {
      std::error_code ignored;
      std::filesystem::remove(LockOf(out), ignored);
      for (std::filesystem::path at = out;
           std::filesystem::remove(at, ignored) && at != made;)  // while empty
        at = at.parent_path();
    }
    const std::string said = error.what();
    for (const char* option : {"agent", "network"}) {
      if (said.starts_with(ParseSpec(options.Text(option)).name + ":"))
        throw Error(Join(options.Where(option), ": ", said));
    }
    throw;
  }
}

std::vector<std::string> Training::Notes(const TrainProgress& now) {
  std::vector<std::string> notes;
  if (now.members > 1) notes.push_back(Join("member ", now.member, " of ", now.members));
  if (validation_ && validation_->validation().measured()) notes.push_back(validation_->Summary());
  words_.Add(now);
  for (const std::string& word : words_.Say(Validations())) notes.push_back(word);
  return notes;
}

std::vector<Validation::Row> Training::Validations() const {
  if (!validation_) return {};
  std::vector<Validation::Row> rows = validation_->validation().rows();
  // With auto a run that goes on may afford another number of workloads than before.
  if (!rows.empty())
    std::erase_if(rows, [last = rows.back()](const auto& row) { return !row.ComparesWith(last); });
  return rows;
}

Json Training::ToJson(const TrainOutcome& outcome, const Options& options) {
  Json json;
  json["agent"] = options.Text("agent");
  json["network"] = options.Text("network");
  json["steps"] = outcome.steps;
  json["wall_s"] = outcome.wall_s;
  json["mean_return"] = outcome.mean_return;
  json["metric"] = metric_;
  json["mean_metric"] = outcome.mean_metric;
  json["device"] = outcome.device;
  json["interrupted"] = outcome.interrupted;
  json["checkpoint"] = outcome.checkpoint;
  if (validation_ && validation_->validation().any()) {
    const Validation& found = validation_->validation();
    for (const auto& [name, value] : found.Figures())
      json["validation"][name.substr(name.find('/') + 1)] = value;
    json["validation"]["steps"] = found.rows().back().steps;
    if (found.best() != nullptr)
      json["best"] = {
          {"policy", found.policy()}, {"steps", found.best()->steps}, {"value", found.best()->greedy}};
  }
  json["config"] = ConfigJson(options);
  if (!outcome.interrupted) words_.Finish();
  json["findings"] = words_.Say(Validations());
  return json;
}

}  // namespace berth
