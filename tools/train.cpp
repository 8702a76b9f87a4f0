// berth train: makes the environment here, hands it to the learners of libberth_learn.so, shows how it goes.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "env/base/counted.hpp"
#include "tools/interrupt.hpp"
#include "tools/next_steps.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"
#include "tools/train_view.hpp"
#include "tools/training.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// Of a cluster's environment, whose metric is the mean JCT in seconds; NaN where no job completed.
std::string ProgressFigures(double metric, double mean_return) {
  if (std::isnan(metric)) return Join("no job completed (return ", Readable(mean_return), ")");
  return Join("mean JCT ", Hours(metric), " h (return ", Readable(mean_return), ")");
}

std::string Detail(const TrainProgress& now, const std::vector<std::string>& notes) {
  std::string text =
      Join(Thousands(static_cast<double>(now.steps)), " steps, ", Thousands(now.steps_per_s), " steps/s");
  if (!std::isnan(now.recent_return)) {
    text += ", " + ProgressFigures(now.recent_metric, now.recent_return);
  } else if (!std::isnan(now.running_return)) {
    text +=
        Join(", ", ProgressFigures(now.running_metric, now.running_return), " so far in the first episodes");
  }
  if (const std::string meanwhile = Meanwhile(now); !meanwhile.empty()) text += "; " + meanwhile;
  for (const std::string& note : notes) text += "; " + note;
  return text;
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
              Thousands(static_cast<double>(request.steps)), " steps, ", Counted(num_envs, "environment"));
}

// Of the episodes that ended in this session.
std::string Returned(const TrainOutcome& outcome, const SchedEnvOptions& env) {
  if (std::isnan(outcome.mean_return)) {
    return Join("no episode ended, so there is no mean JCT yet (an episode is ",
                Counted(env.episode_jobs, "job"), " in each of ", Counted(env.all_envs, "environment"),
                "; more --steps, fewer --envs or --episode-jobs)");
  }
  return Join(ProgressFigures(outcome.mean_metric, outcome.mean_return), " in its last episodes");
}

// The command that compares the policy with a rule that knows no more, where there are some on jobs that it
// was not trained on.
std::string NextOfTraining(const Options& options, const MdpSpec& mdp, bool fixed, int num_jobs) {
  const std::string window = fixed ? KeptBack(options.Text("jobs"), num_jobs) : "";
  const char* meaning = !fixed ? "what it is worth"
                        : window.empty()
                            ? "what it is worth, though on the jobs that it was trained on (--jobs "
                              "keeps some back)"
                            : "what it is worth on jobs that it was not trained on";
  const std::string policy = Join("policy(file=", options.Text("out"), "/policy.h5)");
  return NextStep(meaning, Join("evaluate", SameJobs(options), window, " --schedulers ",
                                ForShell(Join(DefaultBaselines(mdp).front(), ";", policy))));
}

void PrintValidation(const TrainValidation& validation, const std::string& reward) {
  std::cout << validation.Summary() << "\n";
  const Validation& found = validation.validation();
  const Validation::Row* const best = found.best();
  if (best == nullptr) return;
  std::cout << "best of "
            << Counted(std::count_if(found.rows().begin(), found.rows().end(),
                                     [&](const Validation::Row& row) { return row.ComparesWith(*best); }),
                       "validation")
            << ": after " << Thousands(static_cast<double>(best->steps)) << " steps, "
            << Readable(best->greedy) << " of " << reward << " a job: " << found.policy() << "\n";
}

}  // namespace

int RunTrain(const std::vector<std::string>& arguments) {
  Options options("train",
                  "[--agent SPEC] [--scenario FILE | --workload SPEC --cluster CLUSTER] --out RUN [--resume]",
                  "trains a scheduler by reinforcement learning");
  AddTrainingOptions(options);
  if (!options.Parse(arguments)) return 0;
  Training training(options, SourceCommit());
  TrainRequest& request = training.request;
  const EnvironmentChoice& choice = training.choice();
  const Scenario& sample = choice.sample;
  const std::string& out = request.out_dir;
  const TrainValidation* const validation = training.validation();
  if (training.writes()) CheckJsonWritable(options);
  if (options.Bool("dry-run")) {
    std::cout << SettingsText(sample) << "\nmdp " << request.mdp.ToString() << "\nworkload "
              << request.workload << "\n"
              << request.environment << "\n"
              << ChosenText(choice) << "\n"
              << LearnerText(request, training.num_envs()) << "\n"
              << NextStep("the training itself", SameCommand("train", arguments, {"--dry-run"}));
    return 0;
  }
  training.Open(options);
  request.on_begin = [&] {
    std::cout << SettingsText(sample) << "\nmdp " << request.mdp.ToString() << "\nworkload "
              << request.workload << "\n"
              << training.learners().build() << ", device " << training.device();
    if (request.world.many()) std::cout << ", " << request.world.size << " processes";
    std::cout << ", run in " << out << "\n"
              << LearnerText(request, training.num_envs()) << "; learned from " << choice.env.signal << "\n"
              << ChosenText(choice) << std::endl;
  };
  request.on_joined = [](const std::string& how) { std::cout << how << std::endl; };
  request.interrupted = &WatchInterrupts();
  TrainOutcome outcome;
  if (!training.writes()) {
    outcome = training.Run(options);
  } else {
    Progress progress("train");
    TrainView view("mean JCT h", 3600.0);
    request.on_progress = [&](const TrainProgress& now) {
      view.Add(now);
      const double by_steps = static_cast<double>(now.steps) / static_cast<double>(now.total_steps);
      const double by_time = request.seconds > 0.0 ? now.wall_s / request.seconds : 0.0;
      const std::string steps = Thousands(static_cast<double>(now.steps)) + " steps";
      const std::vector<std::string> notes = training.Notes(now);
      progress.Update(std::max(by_steps, by_time), progress.terminal() ? steps : Detail(now, notes),
                      view.Lines(notes));
    };
    outcome = training.Run(options);
  }
  if (!outcome.lost.empty()) {
    std::cerr << "berth train: " << outcome.lost;
    if (!outcome.checkpoint.empty()) {
      std::cerr << "; once all are there again: " << CommandName() << " train --resume --out "
                << ForShell(out);
    }
    std::cerr << std::endl;
    return kExitInterrupted;
  }
  if (!training.writes()) return outcome.interrupted ? kExitInterrupted : 0;
  const Json json = training.ToJson(outcome, options);
  WriteJson(options, json);
  if (!outcome.interrupted && outcome.steps == outcome.steps_before) {
    std::cout << "nothing was left to do: " << Thousands(static_cast<double>(outcome.steps))
              << " steps were trained before; more --steps go on"
              << (request.seconds > 0.0 ? ", in more --seconds\n" : "\n");
    if (validation && validation->validation().measured()) PrintValidation(*validation, request.mdp.reward);
    return 0;
  }
  // A run that is done may be stopped in a validation that this command alone asks for.
  const bool no_further = request.resume && outcome.steps == outcome.steps_before;
  std::cout << (outcome.interrupted ? "interrupted after " : "trained ")
            << Thousands(static_cast<double>(outcome.steps)) << " steps in " << Duration(outcome.wall_s)
            << " on " << outcome.device << (no_further ? "" : ": " + Returned(outcome, choice.env)) << "\n";
  for (const Json& finding : json["findings"]) std::cout << "it " << finding.get<std::string>() << "\n";
  if (outcome.interrupted) {
    std::cout << (outcome.checkpoint.empty() ? "nothing was saved yet" : "saved " + outcome.checkpoint)
              << "; continue with: " << CommandName() << " "
              << (no_further ? SameCommand("train", arguments) : "train --resume --out " + ForShell(out))
              << "\n";
    return kExitInterrupted;
  }
  if (!validation) {
    if (const std::string why = TrainValidation::WhyNone(options, request); !why.empty())
      std::cout << why << "\n";
  } else {
    PrintValidation(*validation, request.mdp.reward);
  }
  std::cout << "saved " << outcome.checkpoint << ", from which --resume goes on\n"
            << NextStep("its policy as a file",
                        Join("export ", ForShell(out), " --out ", ForShell(out + "/policy.h5")))
            << NextOfTraining(options, request.mdp, choice.source->fixed(), sample.num_jobs());
  return 0;
}

}  // namespace berth
