// berth reproduce learned: what the shipped policies are worth, measured against every scheduler and every
// published figure; with --train from nothing. What `seeds` and `ablations` say of policies by gradient they
// train themselves.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "env/base/check.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/interrupt.hpp"
#include "tools/json.hpp"
#include "tools/options.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/gradient/gradient_task.hpp"
#include "tools/reproduce/learned/gradient/train_policies.hpp"
#include "tools/reproduce/learned/training.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kPage = "learned.md";
constexpr std::size_t kQuickWorkloads = 3;

struct Experiment {
  const char* name;
  void (*plan)(const LearnedSettings&, ReproductionRuns&);
  void (*report)(const LearnedSettings&, const ReproductionRuns&, LearnedPage&);
  const char* summary;
};
#define BERTH_ROW(name, Name, summary) {name, Plan##Name, Report##Name, summary},
constexpr Experiment kExperiments[] = {BERTH_LEARNED_EXPERIMENTS(BERTH_ROW)};
#undef BERTH_ROW

void AddOptions(Options& options) {
  AddOnly(options, kExperiments);
  options.Value("policies", "",
                "folder of the policies ROOM/NAME_SEED.h5 [data/policies beside the sources]");
  options.Value("training-seeds", "1:6", "of the policies");
  options.Value("seeds", "1000:1020", "workloads, of a stream that training cannot draw");
  options.Value("drawn", "8000", "jobs of row 1's workloads, of which 3000 to 4000 are measured");
  options.Value("gradient-seeds", "1:17", "training seeds of what `seeds` and (to 8) `ablations` train");
  options.Value(
      "steps-up-to", "2000000",
      "longer trainings of `seeds` and `ablations` are left out, unless kept: their rows are not measured; "
      "20000000 = all, 0 = none");
  options.Value("traces", "", "folder of the public traces, not shipped [one beside the sources, if there]");
  options.Value("limit-s", "30", "CPU seconds of one run; what takes longer is shown as that");
  options.Switch(
      "quick", "fewer loads and workloads, a fiftieth of the gradient's steps: a look, not the reproduction");
  options.Switch(
      "any-source",
      "kept runs and policies of other builds of Berth count too; the page names the sources of runs");
  AddRunOptions(options);
  options.Switch("train", "first train the policies of the chosen experiments into OUT/policies: hours");
  options.Value("recipes", "", "with --train: only these, by name [all of the chosen experiments]");
  options.Switch("dry-run", "only resolve the options of what would be trained, and stop");
  AddThreads(options, "the page does");
  options.Value("out", "",
                "folder for the page learned.md, its .csv and .png files, runs/ (kept results) and policies/ "
                "(trained)");
}

std::string FolderOr(const Options& options, const char* name, const std::string& otherwise) {
  const std::string& given = options.Text(name);
  if (given.empty()) return std::filesystem::is_directory(otherwise) ? otherwise : "";
  if (!std::filesystem::is_directory(given))
    throw Error(Join(options.Where(name), ": expected a folder, found '", given, "'"));
  return given;
}

std::vector<std::uint64_t> WorkloadSeeds(const Options& options) {
  const auto [begin, end] = options.Range("seeds");
  if (end - begin < 2)
    throw Error(
        Join(options.Where("seeds"), ": expected two workloads or more, found ", options.Text("seeds")));
  std::vector<std::uint64_t> seeds = SeedList(options, "seeds");
  if (options.Bool("quick")) seeds.resize(std::min(seeds.size(), kQuickWorkloads));
  return seeds;
}

GradientChoice Gradient(const Options& options) {
  const auto [begin, end] = options.Range("gradient-seeds");
  return {options.Text("out"),   static_cast<int>(begin),
          static_cast<int>(end), options.Integer("steps-up-to", 0, 1'000'000'000'000),
          options.Bool("quick"), options.Bool("any-source")};
}

LearnedSettings ResolveSettings(const Options& options, const std::string& policies) {
  const auto [begin, end] = options.Range("training-seeds");
  return {PolicyShelf(policies, static_cast<int>(begin), static_cast<int>(end)),
          FolderOr(options, "traces", HomeFile("../shared/traces")),
          WorkloadSeeds(options),
          static_cast<int>(options.Integer("drawn", 4000, 1000000)),
          options.Bool("quick"),
          Gradient(options),
          "",
          {}};
}

// Of the chosen experiments that have any, the short ones first.
std::vector<Training> GradientTrainings(const GradientChoice& choice,
                                        const std::vector<Experiment>& experiments) {
  std::vector<Training> all;
  for (const Experiment& experiment : experiments) {
    for (const Training& training : TrainingsOf(choice, experiment.name)) all.push_back(training);
  }
  return all;
}

TrainingPlan PlanTraining(const Options& options, const std::vector<Experiment>& experiments) {
  TrainingPlan plan;
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) names.emplace_back(recipe.name);
  for (const std::size_t i : ChosenParts(options, "recipes", names, "recipe")) {
    const Recipe& recipe = Recipes()[i];
    const bool wanted = std::any_of(experiments.begin(), experiments.end(), [&](const Experiment& e) {
      return std::string(recipe.experiment) == e.name;
    });
    if (wanted || options.Given("recipes")) plan.recipes.push_back(recipe);
  }
  const auto [begin, end] = options.Range("training-seeds");
  plan.begin = static_cast<int>(begin), plan.end = static_cast<int>(end);
  plan.traces = FolderOr(options, "traces", HomeFile("../shared/traces"));
  plan.out = options.Required("out");
  plan.policies = plan.out + "/policies";
  plan.threads = Threads(options);
  return plan;
}

// What repeats the page.
std::string CommandOf(const Options& options) {
  return MadeBy(options, {"only", "policies", "training-seeds", "gradient-seeds", "steps-up-to", "seeds",
                          "drawn", "traces", "limit-s", "recipes", "quick", "any-source", "train"});
}

std::string Introduction(const Options& options, const LearnedSettings& settings,
                         const ReproductionRuns& runs) {
  std::string sources;
  for (const std::string& source : runs.sources()) sources += (sources.empty() ? "" : ", ") + source;
  return Join(
      "Made by `", CommandOf(options), "` from source ", SourceCommit(),
      sources.empty() ? "" : Join(", runs made by ", sources), ". ", runs.planned(), " runs, ",
      Duration(runs.cpu_s()),
      " of one core. Policies are greedy unless stated; none saw a test workload in training: those of "
      "the generator come from a stream that training cannot draw, traces are split by time, and the "
      "Lublin policies are trained on the other trace. A run is stopped after ",
      options.Text("limit-s"), " CPU seconds.",
      settings.policies.folder().empty() ? " The folder of policies is not there." : "");
}

int Interrupted() {
  std::cerr << "interrupted: what was trained is kept, the same command goes on\n";
  return kExitInterrupted;
}

// What will be trained, and the runs of those policies, which nobody can plan before they are there.
void ListGradient(const LearnedSettings& settings, const std::vector<Training>& trainings,
                  const std::vector<Experiment>& experiments) {
  const GradientShelf shelf(settings.gradient);
  std::string left_out;
  for (const Experiment& experiment : experiments) left_out += LeftOut(shelf, experiment.name);
  if (trainings.empty() && left_out.empty()) return;
  std::cout << ListTrainings(shelf, trainings);
  std::size_t runs = 0;
  double seconds = 0.0;
  for (const Training& training : trainings) {
    if (shelf.Kept(training)) continue;
    const GradientTask task(training.set->on, settings);
    runs += task.runs_of_a_policy(training.set->Draws());
    seconds += task.seconds_of_a_policy(training.set->Draws());
  }
  std::cout << left_out << runs << " runs of policies that are not trained yet, about " << Duration(seconds)
            << " of one core; others:\n";
}

// False when interrupted.
bool TrainGradient(LearnedSettings& settings, const std::vector<Training>& trainings, int at_once) {
  TrainingOutcome outcome = TrainPolicies(GradientShelf(settings.gradient), trainings, at_once);
  settings.no_learners = std::move(outcome.no_learners);
  settings.failed_trainings = std::move(outcome.failed);
  return !outcome.interrupted;
}

int Report(const Options& options, const std::vector<Experiment>& experiments,
           const LearnedSettings& settings, const ReproductionRuns& runs) {
  LearnedPage parts;
  for (const Experiment& experiment : experiments) experiment.report(settings, runs, parts);
  ReproductionPage page;
  page.Paragraph("# Learned schedulers, measured");
  page.Paragraph(Introduction(options, settings, runs));
  if (!settings.failed_trainings.empty()) {
    std::string failed;
    for (const auto& [name, why] : settings.failed_trainings)
      failed += Join(failed.empty() ? "" : "; ", "`", name, "`: ", why);
    page.Paragraph(Join("Trainings that failed, and are tried again by the same command: ", failed, "."));
  }
  page.Heading("What was asked and what was measured");
  WriteTargets(parts.targets, page);
  WriteTwoWays(parts, page);
  page.Append(parts.page);
  const std::string& out = options.Text("out");
  page.Write(out, kPage);
  DrawPictures(options, "reproduce/learned/plot_learned.py", out);
  int met = 0, missed = 0, unmeasured = 0, no_target = 0;
  Json targets = Json::array();
  for (const Target& target : parts.targets) {
    targets.push_back({{"row", target.row},
                       {"asked", target.asked},
                       {"measured", target.measured},
                       {"met", target.verdict == Verdict::kMet},
                       {"verdict", ToString(target.verdict)},
                       {"not_measured", target.verdict == Verdict::kNotMeasured}});
    met += target.verdict == Verdict::kMet, missed += target.verdict == Verdict::kNotMet;
    unmeasured += target.verdict == Verdict::kNotMeasured;
    no_target += target.verdict == Verdict::kCannotBe || target.verdict == Verdict::kWithdrawn;
  }
  WriteJson(options, {{"targets", targets}, {"config", ConfigJson(options)}});
  std::cout << out << "/" << kPage << ": " << met << " targets met, " << missed << " not met, " << unmeasured
            << " not measured, " << no_target << " cannot be or withdrawn\n";
  return missed + unmeasured == 0 ? 0 : 1;
}

}  // namespace

int ReproduceLearned(const std::vector<std::string>& arguments) {
  Options options("reproduce learned", "[--only NAME,...] [--quick] [--train] --out DIR",
                  "the shipped policies against every scheduler and published figure");
  AddOptions(options);
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const std::vector<Experiment> experiments = ChosenExperiments(options, kExperiments);
  std::string policies = FolderOr(options, "policies", HomeFile("data/policies"));
  const bool dry = options.Bool("dry-run"), only_estimate = options.Bool("estimate");
  if (options.Bool("train")) {
    const TrainingPlan training = PlanTraining(options, experiments);
    if (!TrainRecipes(training, dry)) return Interrupted();
    policies = training.policies;
  }
  if (dry) {
    for (const Experiment& experiment : experiments) DryRunTrainings(Gradient(options), experiment.name);
    return 0;
  }
  LearnedSettings settings = ResolveSettings(options, policies);
  const std::string out = only_estimate ? options.Text("out") : options.Required("out");
  if (!only_estimate) HoldFolder(out, options.Where("out"), "berth reproduce", {"runs"});
  const std::vector<Training> trainings = GradientTrainings(settings.gradient, experiments);
  if (only_estimate) {
    ListGradient(settings, trainings, experiments);
  } else if (!TrainGradient(settings, trainings, Threads(options))) {
    return Interrupted();
  }
  ReproductionRuns runs("reproduce learned", out + "/runs",
                        {options.Number("limit-s", 0.001, 1e9), options.Bool("any-source")});
  for (const Experiment& experiment : experiments) experiment.plan(settings, runs);
  if (const auto ended = MakeRuns(options, runs)) return *ended;
  return Report(options, experiments, settings, runs);
}

}  // namespace berth
