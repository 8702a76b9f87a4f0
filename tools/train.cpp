// berth train: makes the environment here, hands it to the learners of libberth_learn.so, shows how it goes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <thread>

#include "env/gym/decision_point.hpp"
#include "env/gym/vec_env.hpp"
#include "policies/architecture.hpp"
#include "tools/environment_options.hpp"
#include "tools/from_options.hpp"
#include "tools/interrupt.hpp"
#include "tools/learn_library.hpp"
#include "tools/metric_columns.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/run_folder.hpp"
#include "tools/table.hpp"
#include "tools/train_recipes.hpp"
#include "tools/train_validation.hpp"
#include "tools/train_view.hpp"
#include "tools/training_words.hpp"
#include "tools/validation.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

void AddTrainOptions(Options& options) {
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
  AddProcessOptions(options, "auto", "auto");
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
  options.Switch("dry-run", "resolve every option, say what would be trained, and stop");
  options.Switch("resume", "continue the run in --out; options not given are those of its config.ini");
  options.Everyday({"agent", "recipe", "scenario", "format", "workload", "cluster", "knowledge", "features",
                    "steps", "seconds", "threads", "seed", "reward", "jobs", "out", "from", "validate",
                    "dry-run", "resume"});
}

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

// A run is continued where one is, with its options, and begun where none is.
void CheckFolder(const std::string& folder, bool resume) {
  const std::string checkpoint = folder + "/checkpoint.h5";
  const bool exists = std::filesystem::exists(checkpoint);
  for (const std::string& file : {checkpoint, folder + "/config.ini"}) {
    if (resume && !std::filesystem::exists(file))
      throw Error(Join("--resume: expected ", file, ", found no such file"));
  }
  if (!resume && exists) {
    throw Error(Join("--out: ", folder, " already holds a run; continue it with '", CommandName(),
                     " train --resume --out ", folder, "' or choose another folder"));
  }
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

// Of a cluster's environment, whose metric is the mean JCT in seconds.
std::string Figures(double metric, double mean_return) {
  return Join("mean JCT ", Hours(metric), " h (return ", Readable(mean_return), ")");
}

std::string Detail(const TrainProgress& now, const std::vector<std::string>& notes) {
  std::string text =
      Join(Thousands(static_cast<double>(now.steps)), " steps, ", Thousands(now.steps_per_s), " steps/s");
  if (!std::isnan(now.recent_return)) {
    text += ", " + Figures(now.recent_metric, now.recent_return);
  } else if (!std::isnan(now.running_return)) {
    text += Join(", ", Figures(now.running_metric, now.running_return), " so far in the first episodes");
  }
  if (const std::string meanwhile = Meanwhile(now); !meanwhile.empty()) text += "; " + meanwhile;
  for (const std::string& note : notes) text += "; " + note;
  return text;
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

Json OutcomeJson(const TrainOutcome& outcome, const std::string& metric, const TrainValidation* validation,
                 const Options& options) {
  Json json;
  json["agent"] = options.Text("agent");
  json["network"] = options.Text("network");
  json["steps"] = outcome.steps;
  json["wall_s"] = outcome.wall_s;
  json["mean_return"] = outcome.mean_return;
  json["metric"] = metric;
  json["mean_metric"] = outcome.mean_metric;
  json["device"] = outcome.device;
  json["interrupted"] = outcome.interrupted;
  json["checkpoint"] = outcome.checkpoint;
  if (validation != nullptr && validation->validation().any()) {
    const Validation& found = validation->validation();
    for (const auto& [name, value] : found.Figures())
      json["validation"][name.substr(name.find('/') + 1)] = value;
    json["validation"]["steps"] = found.rows().back().steps;
    if (validation->keeps_best())
      json["best"] = {
          {"policy", found.policy()}, {"steps", found.best()->steps}, {"value", found.best()->greedy}};
  }
  json["config"] = ConfigJson(options);
  return json;
}

// What was chosen by itself, and how much the workload asks of the cluster.
std::string ChosenText(const EnvironmentChoice& choice) {
  return Join(choice.chosen.empty() ? "" : choice.chosen + "; ", "load ", Fixed(choice.numbers.load, 2),
              " of the cluster at least",
              choice.numbers.load >= 1.0 ? ", more than it can work off: queues grow under any policy" : "");
}

std::string LearnerText(const TrainRequest& request, int num_envs) {
  return Join("agent ", request.agent, ", network ", request.network, ", ",
              request.members > 1 ? Join(request.members, " members, ") : "",
              Thousands(static_cast<double>(request.steps)), " steps, ", num_envs, " environments");
}

std::vector<Validation::Row> Validations(const TrainValidation* validation) {
  return validation != nullptr ? validation->validation().rows() : std::vector<Validation::Row>();
}

// Of the episodes that ended in this session.
std::string Returned(const TrainOutcome& outcome, const SchedEnvOptions& env) {
  if (std::isnan(outcome.mean_return)) {
    return Join("no episode ended, so there is no mean JCT yet (an episode is ", env.episode_jobs,
                " jobs in each of ", env.all_envs,
                " environments; more --steps, fewer --envs or --episode-jobs)");
  }
  return Join(Figures(outcome.mean_metric, outcome.mean_return), " in its last episodes");
}

void CheckNamed(const Options& options, const char* option, const std::vector<LearnInfo>& known) {
  std::vector<std::string> names;
  for (const LearnInfo& info : known) names.push_back(info.name);
  const std::string name = InOption(options, option, [&] { return ParseSpec(options.Text(option)).name; });
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(Join(options.Where(option), ": unknown ", option, " '", name, "'", DidYouMean(name, names),
                     "; '", CommandName(), " list ", option, "s' has them"));
}

// The command that compares the policy with a rule that knows no more, on jobs that it was not trained on.
std::string EvaluateWords(const Options& options, const MdpSpec& mdp, int num_jobs) {
  std::string words = "evaluate" + SameJobs(options);
  if (options.Given("jobs") && !options.Text("jobs").empty()) {
    const auto end = options.Range("jobs").second;
    if (end < num_jobs) words += Join(" --window ", end, ":", num_jobs);
  }
  const std::string policy = Join("policy(file=", options.Text("out"), "/policy.h5)");
  return Join(words, " --schedulers ", ForShell(Join(DefaultBaselines(mdp).front(), ";", policy)));
}

// What the learners refuse of the agent or the network is named by its flag.
TrainOutcome TrainNaming(const Options& options, const LearnApi& learners, const TrainRequest& request) {
  try {
    return learners.train(request);
  } catch (const Error& error) {
    const std::string said = error.what();
    for (const char* option : {"agent", "network"}) {
      if (said.starts_with(ParseSpec(options.Text(option)).name + ":"))
        throw Error(Join(options.Where(option), ": ", said));
    }
    throw;
  }
}

}  // namespace

int RunTrain(const std::vector<std::string>& arguments) {
  Options options("train",
                  "[--agent SPEC] [--scenario FILE | --workload SPEC --cluster CLUSTER] --out RUN [--resume]",
                  "trains a scheduler by reinforcement learning");
  AddTrainOptions(options);
  if (!options.Parse(arguments)) return 0;

  const std::string out = options.Required("out");
  const bool resume = options.Bool("resume");
  CheckFolder(out, resume);
  if (resume && options.Given("from"))
    throw Error(Join(options.Where("from"),
                     ": expected without --resume, whose checkpoint has the weights, found both"));
  if (resume && options.Given("recipe"))
    throw Error(Join(options.Where("recipe"),
                     ": expected without --resume, which goes on as the run began, found both"));
  if (resume) options.ReadConfig(out + "/config.ini");
  const bool members_by_itself = options.Text("members") == "auto";
  ApplyRecipe(options);
  for (const char* file : kRunFiles) options.AddRead("out", out + "/" + file);
  if (!resume && options.Given("from")) TakeOptionsOfPolicy(options);
  TrainRequest request;
  request.world = ResolveWorld(options);
  const bool writes = request.world.rank == 0;
  if (writes) CheckJsonWritable(options);

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
  request.commit = SourceCommit();

  EnvironmentChoice choice = ResolveEnvironment(options, request.seed);
  const Scenario& sample = choice.sample;
  request.mdp = choice.env.mdp;
  for (const GpuType& type : sample.data().cluster.types) request.gpu_types.push_back(type.name);
  request.workload = choice.source->Describe();
  request.environment =
      Join(SettingsText(sample), "; episodes of ", choice.env.episode_jobs, " jobs after up to ",
           choice.env.warmup_jobs, " of warm-up; learned from ", choice.env.signal);
  if (choice.source->fixed()) {
    request.environment += Join("; jobs ", options.Text("jobs").empty() ? "all" : options.Text("jobs"),
                                " of scenario ", sample.Hash());
  }
  if (request.mdp.reward.find("deadline") != std::string::npos && !DrawsDeadlines(*choice.source, sample))
    throw Error(
        Join(options.Where("reward"),
             ": deadline: expected jobs with deadlines, as synthetic(slo=true) draws them, found none"));
  const auto num_envs = static_cast<int>(options.Integer("envs", 1, 65536));
  const ObservationLayout layout =
      InOption(options, "actions", [&] { return LayoutOf(request.mdp, sample); });
  if (members_by_itself) {
    while (request.members > 1 && !StandSideBySide(request, layout)) --request.members;
    options.Assign("members", std::to_string(request.members));
  }
  CheckObservations(num_envs, layout.size(), Join(options.Where("visible"), ", ", options.Where("envs")));
  const std::unique_ptr<TrainValidation> validation = TrainValidation::Make(options, choice, request);
  if (options.Bool("dry-run")) {
    std::cout << SettingsText(sample) << "\nmdp " << request.mdp.ToString() << "\nworkload "
              << request.workload << "\n"
              << request.environment << "\n"
              << ChosenText(choice) << "\n"
              << LearnerText(request, num_envs) << "\n"
              << NextStep("the training itself", SameCommand("train", arguments, {"--dry-run"}));
    return 0;
  }
  if (num_envs < request.world.size) {
    throw Error(Join(options.Where("envs"), ": expected at least one for each of ", request.world.size,
                     " processes (", request.world.size_variable, "), found ", num_envs));
  }
  const auto [first, end] = PartOfRank(num_envs, request.world.rank, request.world.size);
  choice.env.first_env = first;
  choice.env.all_envs = request.all_envs = num_envs;
  const std::unique_ptr<BatchEnv> env = MakeVecEnv(choice.source, choice.env, end - first, request.threads);
  request.env = env.get();

  if (validation) validation->Attach(request);

  const LearnApi& learners = OpenLearnLibrary();
  CheckNamed(options, "agent", learners.agents());
  CheckNamed(options, "network", learners.networks());
  const std::string device = learners.device(request.device, request.network);  // before anything is written
  request.config = ConfigOfRun(options);
  // What is refused leaves no folder, no options in one that is there, and one line.
  request.on_begin = [&] {
    WriteTextFile(out + "/config.ini", request.config);
    std::cout << SettingsText(sample) << "\nmdp " << request.mdp.ToString() << "\nworkload "
              << request.workload << "\n"
              << learners.build() << ", device " << device;
    if (request.world.many()) std::cout << ", " << request.world.size << " processes";
    std::cout << ", run in " << out << "\n"
              << LearnerText(request, num_envs) << "; learned from " << choice.env.signal << "\n"
              << ChosenText(choice) << std::endl;
  };

  const std::string metric = env->metric_name();
  TrainOutcome outcome;
  request.interrupted = &WatchInterrupts();
  TrainingWords words({.load = choice.numbers.load, .signal_is_reward = choice.env.signal == "reward"});
  if (!writes) {
    outcome = TrainNaming(options, learners, request);
  } else {
    request.on_joined = [](const std::string& how) { std::cout << how << std::endl; };
    Progress progress("train");
    TrainView view("mean JCT h", 3600.0);
    request.on_progress = [&](const TrainProgress& now) {
      view.Add(now);
      const double by_steps = static_cast<double>(now.steps) / static_cast<double>(now.total_steps);
      const double by_time = request.seconds > 0.0 ? now.wall_s / request.seconds : 0.0;
      const std::string steps = Thousands(static_cast<double>(now.steps)) + " steps";
      std::vector<std::string> notes;
      if (now.members > 1) notes.push_back(Join("member ", now.member, " of ", now.members));
      if (validation && validation->validation().measured()) notes.push_back(validation->Summary());
      words.Add(now);
      for (const std::string& word : words.Say(Validations(validation.get()))) notes.push_back(word);
      progress.Update(std::max(by_steps, by_time), progress.terminal() ? steps : Detail(now, notes),
                      view.Lines(notes));
    };
    outcome = TrainNaming(options, learners, request);
  }
  if (!outcome.lost.empty()) {
    std::cerr << "berth train: " << outcome.lost;
    if (!outcome.checkpoint.empty()) {
      std::cerr << "; once all are there again: " << CommandName() << " train --resume --out " << out;
    }
    std::cerr << std::endl;
    return kExitInterrupted;
  }
  if (!writes) return outcome.interrupted ? kExitInterrupted : 0;
  if (!outcome.interrupted) words.Finish();
  const std::vector<std::string> said = words.Say(Validations(validation.get()));
  Json json = OutcomeJson(outcome, metric, validation.get(), options);
  json["findings"] = said;
  WriteJson(options, json);
  if (!outcome.interrupted && outcome.steps == outcome.steps_before) {
    std::cout << "nothing was left to do: " << Thousands(static_cast<double>(outcome.steps))
              << " steps were trained before; more --steps go on"
              << (request.seconds > 0.0 ? ", in more --seconds\n" : "\n");
    return 0;
  }
  std::cout << (outcome.interrupted ? "interrupted after " : "trained ")
            << Thousands(static_cast<double>(outcome.steps)) << " steps in " << Duration(outcome.wall_s)
            << " on " << outcome.device << ": " << Returned(outcome, choice.env) << "\n";
  for (const std::string& words_of_it : said) std::cout << "it " << words_of_it << "\n";
  if (outcome.interrupted) {
    std::cout << (outcome.checkpoint.empty() ? "nothing was saved yet" : "saved " + outcome.checkpoint)
              << "; continue with: " << CommandName() << " train --resume --out " << out << "\n";
    return kExitInterrupted;
  }
  if (!validation) {
    if (const std::string why = TrainValidation::WhyNone(options, request); !why.empty())
      std::cout << why << "\n";
  } else {
    std::cout << validation->Summary() << "\n";
    const Validation& found = validation->validation();
    if (validation->keeps_best() && found.any())
      std::cout << "best of " << found.rows().size() << " validations: after "
                << Thousands(static_cast<double>(found.best()->steps)) << " steps, "
                << Readable(found.best()->greedy) << " of " << request.mdp.reward
                << " a job: " << found.policy() << "\n";
  }
  std::cout
      << "saved " << outcome.checkpoint << ", from which --resume goes on\n"
      << NextStep("its policy as a file",
                  Join("export ", ForShell(out), " --out ", ForShell(out + "/policy.h5")))
      << NextStep(choice.source->fixed() && options.Text("jobs").empty()
                      ? "what it is worth, though on the jobs that it was trained on (--jobs keeps some back)"
                      : "what it is worth",
                  EvaluateWords(options, request.mdp, sample.num_jobs()));
  return 0;
}

}  // namespace berth
