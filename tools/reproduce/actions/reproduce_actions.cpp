// berth reproduce actions: policies with all that a cluster can do against the specialists written for it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "env/base/index.hpp"
#include "env/sim/statistics.hpp"
#include "tools/file_lock.hpp"
#include "tools/interrupt.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/actions/action_results.hpp"
#include "tools/reproduce/actions/action_study.hpp"
#include "tools/reproduce/actions/sections.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kPage = "actions.md";
constexpr std::size_t kShownRules = 6;

ChildStep TrainingStep(const ActionStudy& study, const ActionRow& row, std::int64_t seed) {
  Words options = Joined({"--actions", row.actions}, ClusterWords(row));
  for (const std::string& word : SplitOutsideParentheses(row.training, ' ')) options.push_back(word);
  return study.Training(row.name, seed, row.steps, options);
}

std::string TunedFile(const ActionStudy& study, const ActionRow& row, std::size_t specialist) {
  return Join(study.out, "/tuned/", row.name, "_", specialist, ".ini");
}

ChildStep TuningStep(const ActionStudy& study, const ActionRow& row, std::size_t i) {
  const Specialist& it = row.specialists[i];
  return {Join(row.name, "_tune_", i),
          {Joined({"tune", "--scheduler", it.spec, "--parameters", it.parameters, "--reward", row.tuned_for,
                   "--seconds", Join(study.tune_s), "--threads", "1", "--validate", "4", "--out",
                   TunedFile(study, row, i)},
                  ClusterWords(row))},
          TunedFile(study, row, i),
          study.tune_s};
}

// The spec that `berth tune` found: the last of its line of schedulers.
std::string Tuned(const ActionStudy& study, const ActionRow& row, std::size_t i) {
  std::ifstream in(TunedFile(study, row, i));
  std::string line;
  while (std::getline(in, line)) {
    constexpr std::string_view kKey = "schedulers=";
    if (!line.starts_with(kKey)) continue;
    const std::vector<std::string> specs = SplitOutsideParentheses(line.substr(kKey.size()), ';');
    if (!specs.empty()) return specs.back();
  }
  return "";
}

// Specialists as they are and as tuned.
std::vector<std::string> SpecialistSpecs(const ActionStudy& study, const ActionRow& row) {
  std::vector<std::string> specs;
  for (std::size_t i = 0; i < row.specialists.size(); ++i) {
    specs.emplace_back(row.specialists[i].spec);
    const std::string tuned = *row.specialists[i].parameters != '\0' ? Tuned(study, row, i) : "";
    if (!tuned.empty() && tuned != specs.back()) specs.push_back(tuned);
  }
  return specs;
}

std::vector<std::string> RuleSpecs(const ActionRow& row) {
  std::vector<std::string> specs;
  const Knowledge most = ParseKnowledge(row.knowledge);
  for (const char* rule : ActionRules()) {
    const auto same = [&](const Specialist& it) { return std::string_view(it.spec) == rule; };
    if (std::any_of(row.specialists.begin(), row.specialists.end(), same)) continue;
    if (MakeScheduler(rule, AllSchedulers())->knowledge() <= most) specs.emplace_back(rule);
  }
  return specs;
}

ChildStep Evaluation(const ActionStudy& study, const ActionRow& row) {
  return study.Evaluation(
      row.name, Joined(Joined(SpecialistSpecs(study, row), RuleSpecs(row)), study.Policies(row.name)),
      study.seeds, row.window, ClusterWords(row));
}

// A row's table, and whether it is won.
RowVerdict ReportRow(const ActionStudy& study, const ActionRow& row, ReproductionPage& page, Cells& summary) {
  const ActionResults results(study.ResultFile(row.name));
  const bool bounded = *row.no_worse.key != '\0';
  const std::vector<std::string> specialists = SpecialistSpecs(study, row),
                                 policies = study.Policies(row.name);
  std::vector<std::string> rules = RuleSpecs(row);
  std::stable_sort(rules.begin(), rules.end(), [&](const std::string& a, const std::string& b) {
    return results.MeanOf(a, row.metric) < results.MeanOf(b, row.metric);
  });
  rules.resize(std::min(rules.size(), kShownRules));
  std::vector<std::string> others = specialists;
  others.insert(others.end(), rules.begin(), rules.end());
  // What must be no worse than the least of any specialist; who neglects it is no match for anybody.
  const std::string specialist = bounded ? results.Best(specialists, row.no_worse) : "";
  const double bound = bounded ? results.MeanOf(specialist, row.no_worse) * (1.0 + kMostWorse) : 0.0;
  std::vector<std::string> matches;
  for (const std::string& other : others) {
    if (!bounded || results.MeanOf(other, row.no_worse) <= bound) matches.push_back(other);
  }
  const std::string best = results.Best(matches, row.metric);
  const Interval all = results.Ratio(policies, best, row.metric);

  page.Heading(Join(row.title, " (`", row.name, "`)"));
  page.Paragraph(Join("`", row.workload, "` on ", row.cluster, ", clock ", row.clock,
                      *row.features != '\0' ? Join(", `", row.features, "`") : std::string(),
                      std::string_view(row.window) != ActionRow{}.window
                          ? Join(", jobs ", row.window, " measured")
                          : std::string(),
                      ". Policies: `--actions ", row.actions, *row.training != '\0' ? " " : "", row.training,
                      "`, ", Thousands(static_cast<double>(row.steps)), " steps a seed."));
  Cells header = {"scheduler", row.metric.name, Join("of ", best)};
  if (bounded) header.emplace_back(row.no_worse.name);
  std::vector<Cells> rows;
  const auto add = [&](const std::string& name, const std::string& spec) {
    Cells cells = {name, Join(Fixed(results.MeanOf(spec, row.metric), 3), results.keeps_up(spec) ? "" : "†"),
                   WithInterval(results.Ratio({spec}, best, row.metric), 3)};
    if (bounded) cells.push_back(Fixed(results.MeanOf(spec, row.no_worse), 3));
    rows.push_back(std::move(cells));
  };
  for (const std::string& spec : others) add(Join("`", spec, "`"), spec);
  for (std::size_t i = 0; i < policies.size(); ++i)
    add(Join("policy, seed ", study.first_seed + static_cast<std::int64_t>(i)), policies[i]);
  page.Rows(header, rows);

  double held = 0.0;  // what must be no worse, of the policies
  for (const std::string& policy : policies)
    held += bounded ? results.MeanOf(policy, row.no_worse) / static_cast<double>(policies.size()) : 0.0;
  const bool holds = !bounded || held <= bound;
  const RowVerdict verdict = JudgeRow(all, holds, results.keep_up(policies) && results.keeps_up(best));
  summary = {Join("`", row.name, "`"),
             Join("`", best, "`"),
             row.metric.name,
             results.RatioCell(policies, {best}, row.metric),
             bounded ? Join(row.no_worse.name, " ", Fixed(held, 3), "; `", specialist, "` ",
                            Fixed(results.MeanOf(specialist, row.no_worse), 3), ", `", best, "` ",
                            Fixed(results.MeanOf(best, row.no_worse), 3))
                     : "",
             ToString(verdict)};
  return verdict;
}

void AddOptions(Options& options) {
  options.Value("only", "", "rows, separated by commas [all]");
  options.Value("training-seeds", "1:9", "of the policies: a range, or how many from 1");
  options.Value("seeds", "1000:1020", "workloads, of a stream that training cannot draw");
  options.Value("tune-seconds", "60", "of each specialist's numbers, of one core");
  options.Switch("estimate", "list what is left and the time it takes, and stop");
  AddThreads(options, "the page does");
  options.Value("out", "", Join("folder for the page ", kPage, ", policies/, tuned/, results/ and runs/"));
}

// Makes one kind of steps of all rows.
ChildrenEnd Make(const char* label, const std::vector<ChildStep>& steps, const ActionStudy& study,
                 int threads) {
  ChildrenEnd outcome = RunSteps(label, steps, study.out + "/logs", threads);
  for (const auto& [name, said] : outcome.failed) std::cerr << name << ": " << said << "\n";
  return outcome;
}

}  // namespace

int ReproduceActions(const std::vector<std::string>& arguments) {
  Options options("reproduce actions", "[--only ROW,...] [--training-seeds A:B] --out DIR",
                  "policies that do all a cluster can, against the specialists written for it");
  AddOptions(options);
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  std::vector<std::string> names;
  for (const ActionRow& row : ActionRows()) names.emplace_back(row.name);
  const ActionSection all_sections[] = {GeneralistSection(), AblationsSection()};
  for (const ActionSection& section : all_sections) names.emplace_back(section.name);
  std::vector<const ActionRow*> rows;
  std::vector<ActionSection> sections;
  for (const std::size_t i : ChosenParts(options, "only", names, "row")) {
    if (i < ActionRows().size()) {
      rows.push_back(&ActionRows()[i]);
    } else {
      sections.push_back(all_sections[i - ActionRows().size()]);
    }
  }
  const std::string text = options.Text("training-seeds");
  if (text.find(':') == std::string::npos)
    options.Assign("training-seeds", Join("1:", options.Integer("training-seeds", 1, 1000) + 1));
  const auto [first, last] = options.Range("training-seeds");
  const bool only_estimate = options.Bool("estimate");
  const std::string out = only_estimate ? options.Text("out") : options.Required("out");
  const ActionStudy study{out.empty() ? "." : std::filesystem::absolute(out).lexically_normal().string(),
                          first, last, options.Text("seeds"), options.Number("tune-seconds", 1.0, 1e6)};
  SeedList(options, "seeds");  // a bad range shows now
  std::vector<ChildStep> trainings, tunings, evaluations;
  for (const ActionRow* row : rows) {
    for (std::int64_t seed = first; seed < last; ++seed) trainings.push_back(TrainingStep(study, *row, seed));
    for (std::size_t i = 0; i < row->specialists.size(); ++i) {
      if (*row->specialists[i].parameters != '\0') tunings.push_back(TuningStep(study, *row, i));
    }
  }
  for (const ActionSection& section : sections) {
    for (ChildStep& step : section.trainings(study)) trainings.push_back(std::move(step));
  }
  if (only_estimate) {
    double seconds = 0.0;
    for (const std::vector<ChildStep>& steps : {StepsLeft(trainings), StepsLeft(tunings)}) {
      for (const ChildStep& step : steps) {
        std::cout << step.name << "  about " << Duration(step.seconds) << "\n";
        seconds += step.seconds;
      }
    }
    std::cout << "and an evaluation a row; about "
              << Duration(seconds + kEvaluateSeconds * static_cast<double>(rows.size())) << " of one core\n";
    return 0;
  }
  HoldFolder(study.out, options.Where("out"), "berth reproduce",
             {"policies", "tuned", "results", "runs", "logs"});
  const int threads = Threads(options);
  for (const auto& [label, steps] : {std::pair{"train", &trainings}, std::pair{"tune", &tunings}}) {
    const ChildrenEnd made = Make(label, *steps, study, threads);
    if (made.interrupted) return kExitInterrupted;
    if (!made.failed.empty()) return 1;
  }
  for (const ActionRow* row : rows) evaluations.push_back(Evaluation(study, *row));
  for (const ActionSection& section : sections) {
    for (ChildStep& step : section.evaluations(study)) evaluations.push_back(std::move(step));
  }
  const ChildrenEnd evaluated = Make("evaluate", evaluations, study, threads);
  if (evaluated.interrupted) return kExitInterrupted;

  ReproductionPage page, tables;
  std::vector<Cells> summary;
  int won = 0, lost = 0, not_compared = 0;
  for (const ActionRow* row : rows) {
    if (const auto failed = evaluated.failed.find(Join(row->name, "_evaluate"));
        failed != evaluated.failed.end()) {
      summary.push_back({Join("`", row->name, "`"), "", row->metric.name, failed->second, "", "lost"});
      ++lost;
      continue;
    }
    Cells cells;
    const RowVerdict verdict = ReportRow(study, *row, tables, cells);
    won += verdict == RowVerdict::kWon, lost += verdict == RowVerdict::kLost;
    not_compared += verdict == RowVerdict::kNotCompared;
    summary.push_back(std::move(cells));
  }
  page.Paragraph("# Policies that do all that a cluster can, against specialists");
  page.Paragraph(Join(
      "Made by `", MadeBy(options, {"only", "training-seeds", "seeds", "tune-seconds"}), "` from source ",
      SourceCommit(), ": ", last - first, " training seeds, none left out, workloads ", study.seeds,
      " that no training draws, jobs 300 to 700 of 1,000 measured, unless a row says otherwise. Beside the "
      "specialists of a row (as they are, and with their numbers searched by `berth tune` for ",
      study.tune_s, " s) stand the six best of ", std::size(ActionRules()),
      " rules that know no more. Ratios are to the least mean of these, paired by workload, with 95% "
      "intervals over workloads; of all seeds together in the first table, over training seeds and "
      "workloads. Won: the interval is below 1, and what must be no worse is within 2% of the least of any "
      "specialist; who does worse there is shown, and not compared with. Not compared: the policies, or the "
      "best other, carry the mark †. ",
      UnstableMark(), "."));
  if (!rows.empty()) {
    page.Rows({"row", "best other", "metric", "all seeds", "no worse", ""}, summary);
    page.Paragraph(
        Join("**", won, " of ", rows.size(), " won, ", lost, " lost, ", not_compared, " not compared.**"));
  }
  for (const ActionSection& section : sections) section.report(study, page);
  page.Append(tables);
  page.Write(study.out, kPage);
  std::cout << page.text();
  return lost > 0 ? 1 : 0;
}

}  // namespace berth
