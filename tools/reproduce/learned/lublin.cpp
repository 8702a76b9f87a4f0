// Rows 2 and 3 of the page's targets: Lublin-1 and Lublin-2, each with the policies trained on the other,
// under the published protocol (commit) and the textbook's (redecide); published figures are those
// of hpc.cpp.
#include <cmath>
#include <memory>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/lublin_cases.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

struct Measured {
  std::vector<double> slowdown;                     // [sequences] mean bounded slowdown; NaN = none
  double p99_wait_s = 0, max_wait_s = 0, gini = 0;  // means, largest, mean
};

Measured Collect(const ReproductionRuns& runs, const LublinCase& c, std::span<const int> starts,
                 const std::string& spec) {
  Measured measured;
  int count = 0;
  for (const int start : starts) {
    const PlannedOutcome* run = runs.FindWhole({SequenceName(c, start), {}, {}}, spec);
    measured.slowdown.push_back(run != nullptr ? run->hpc_bounded_slowdown : std::nan(""));
    if (run == nullptr) continue;
    ++count;
    measured.p99_wait_s += run->p99_wait_s, measured.gini += run->gini_slowdown;
    measured.max_wait_s = std::max(measured.max_wait_s, run->max_wait_s);
  }
  if (count > 0) measured.p99_wait_s /= count, measured.gini /= count;
  return measured;
}

Cells MeasuredCells(const std::string& name, const std::string& published, const Measured& m) {
  const double mean = Mean(m.slowdown);
  if (std::isnan(mean)) return {name, published, "-", "-", "-", "-"};
  return {name,
          published,
          Fixed(mean, 2),
          Fixed(m.p99_wait_s / 3600.0, 1),
          Fixed(m.max_wait_s / 3600.0, 1),
          Fixed(m.gini, 3)};
}

// What was published of `rule` in this case, as printed; "" where nothing was.
std::string Published(const LublinCase& c, bool official, const std::string& rule) {
  for (const HpcTable& table : HpcTables()) {
    if (table.semantics != c.semantics || table.official != official) continue;
    if (std::string(table.metric) == "utilisation") continue;
    for (const HpcRow& row : table.rows) {
      if (rule == row.rule) return row.value[c.setting - HpcSettings().data()];
    }
  }
  return "";
}

struct Learned {
  std::vector<Measured> greedy, sampled;  // [training seeds]
};

void AddLearnedRows(const Learned& learned, const std::vector<TrainedPolicy>& policies,
                    std::vector<Cells>& rows) {
  for (const auto& [name, all] : {std::pair{"greedy", &learned.greedy}, {"sampled", &learned.sampled}}) {
    Measured mean;
    for (const Measured& m : *all) {
      mean.slowdown.push_back(Mean(m.slowdown));
      mean.p99_wait_s += m.p99_wait_s / static_cast<double>(all->size());
      mean.gini += m.gini / static_cast<double>(all->size());
      mean.max_wait_s = std::max(mean.max_wait_s, m.max_wait_s);
    }
    rows.push_back(MeasuredCells(Join("**learned, ", name, "**, mean of ", all->size()), "", mean));
  }
  for (std::size_t k = 0; k < policies.size(); ++k)
    rows.push_back(MeasuredCells(Join("learned, greedy, seed ", policies[k].seed), "", learned.greedy[k]));
}

double LearnedMeanOf(const std::vector<Measured>& all) {
  std::vector<double> means;
  for (const Measured& m : all) means.push_back(Mean(m.slowdown));
  return Mean(means);
}

void ReportCase(const LearnedSettings& settings, const ReproductionRuns& runs, const LublinCase& c,
                bool official, LearnedPage& out, std::vector<Cells>& csv) {
  const std::span<const int> starts = official ? HpcOfficialStarts() : HpcDisjointStarts();
  const std::vector<TrainedPolicy> policies = settings.policies.Find(c.policy);
  const std::string where = official ? "ten published sequences" : "eight disjoint windows";
  Learned learned;
  for (const TrainedPolicy& policy : policies) {
    learned.greedy.push_back(Collect(runs, c, starts, policy.Spec()));
    learned.sampled.push_back(Collect(runs, c, starts, policy.Spec(true)));
  }
  std::vector<Cells> rows;
  if (!policies.empty()) AddLearnedRows(learned, policies, rows);
  Measured best;
  std::string best_name;
  for (const ScoreRule& rule : ScoreRules()) {
    const Measured m = Collect(runs, c, starts, RuleSpec(rule, c));
    rows.push_back(MeasuredCells(rule.name, Published(c, official, rule.name), m));
    const double mean = Mean(m.slowdown);
    if (!std::isnan(mean) && (best_name.empty() || mean < Mean(best.slowdown)))
      best = m, best_name = rule.name;
    csv.push_back(
        {c.setting->name, ToString(c.semantics), official ? "official" : "disjoint", rule.name, Exact(mean)});
  }
  for (const char* rule : {"RL, sampled", "RL, greedy"}) {
    const std::string value = Published(c, official, rule);
    if (!value.empty()) rows.push_back({Join(rule, " (published)"), value, "", "", "", ""});
  }
  ReproductionPage& page = out.page;
  page.Paragraph(Join("**", c.setting->name, ", `", ToString(c.semantics), "`, ", where, "**; policies `",
                      c.policy, "`"));
  if (const std::string missing = settings.policies.Missing(c.policy); !missing.empty())
    page.Paragraph(Join("Not available: ", missing, "."));
  page.Rows({"scheduler", "published", "mean bounded slowdown", "p99 wait h", "max wait h", "Gini"}, rows);

  const std::string row = Join(c.semantics == Semantics::kCommit ? "2, " : "3, ", c.setting->name,
                               official ? ", published" : ", disjoint");
  const double bar = official ? c.bar_official : c.bar_disjoint;
  if (policies.empty()) {
    if (!std::isnan(bar))
      out.targets.push_back(NotMeasured(row, Join("below ", Fixed(bar, 2)), "no policies"));
    return;
  }
  for (const auto& [name, all] :
       {std::pair{"learned, greedy", &learned.greedy}, {"learned, sampled", &learned.sampled}})
    csv.push_back({c.setting->name, ToString(c.semantics), official ? "official" : "disjoint", name,
                   Exact(LearnedMeanOf(*all))});
  if (!std::isnan(bar)) {
    const std::string asked = Join("greedy, mean of the training seeds below ", Fixed(bar, 2),
                                   official ? Join(" (", c.bar_text, ")") : " (the best rule)");
    out.targets.push_back(ValueTarget(row, asked, LearnedMeanOf(learned.greedy), bar, 2));
  }
  if (best_name.empty()) return;
  std::vector<Grid> grids;
  for (const Measured& m : learned.greedy) grids.push_back({m.slowdown});
  const Comparison all = Compare(grids, {best.slowdown}, kBootstrapSeed);
  page.Paragraph(Join("Greedy over the best rule here, ", best_name, ": ", WithInterval(all.overall, 3),
                      official ? " (the ten sequences overlap, so the interval is too narrow)" : "", "."));
  if (!official)
    out.targets.push_back(
        RatioTarget(row, Join("below the best rule (", best_name, "), the interval apart from 1"),
                    all.overall, 1.0, true));
  std::vector<Grid> gradient;
  for (const std::string& spec : settings.policies.Specs(ByGradient(c.policy)))
    gradient.push_back({Collect(runs, c, starts, spec).slowdown});
  AddTwoWays({row, grids, gradient, best_name, {best.slowdown}}, out);
  if (c.semantics == Semantics::kRedecide && official) {
    double p99 = 0.0, longest = 0.0;
    for (const Measured& m : learned.greedy)
      p99 += m.p99_wait_s / static_cast<double>(policies.size()), longest = std::max(longest, m.max_wait_s);
    Target waits{row,
                 Join("no worse p99 and maximum wait than ", best_name, "'s ",
                      Fixed(best.p99_wait_s / 3600.0, 1), " and ", Fixed(best.max_wait_s / 3600.0, 1), " h"),
                 Join(Fixed(p99 / 3600.0, 1), " and ", Fixed(longest / 3600.0, 1), " h"),
                 p99 <= best.p99_wait_s && longest <= best.max_wait_s ? Verdict::kMet : Verdict::kNotMet};
    out.targets.push_back(std::move(waits));
  }
}

}  // namespace

void PlanLublin(const LearnedSettings& settings, ReproductionRuns& runs) {
  const std::string folder = LublinFolder(settings);
  if (folder.empty()) return;
  for (const LublinCase& c : LublinCases()) {
    const std::shared_ptr<const Scenario> log = ReadLublin(folder, c);
    for (const std::span<const int> starts : {HpcOfficialStarts(), HpcDisjointStarts()}) {
      for (const int start : starts) {
        const PlannedWorkload workload = SequenceWorkload(log, c, start);
        for (const ScoreRule& rule : ScoreRules()) runs.Plan(workload, RuleSpec(rule, c), kSequenceCost);
        for (const TrainedPolicy& policy : settings.policies.Find(c.policy)) {
          runs.Plan(workload, policy.Spec(), 20 * kSequenceCost);
          runs.Plan(workload, policy.Spec(true), 20 * kSequenceCost);
        }
        for (const std::string& spec : settings.policies.Specs(ByGradient(c.policy)))
          runs.Plan(workload, spec, 20 * kSequenceCost);
      }
    }
  }
}

void ReportLublin(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  page.Heading("Lublin-1 and Lublin-2, each with the policies of the other");
  if (LublinFolder(settings).empty()) {
    page.Paragraph("Not available: rlscheduler-lublin in the folder of public traces (`--traces`).");
    out.targets.push_back(
        NotMeasured("2, 3", "below the published policies and the best rules", "no traces"));
    return;
  }
  page.Paragraph(
      "Sequences of 1,024 jobs on 256 processors, mean bounded slowdown. `commit`: clock `hpc`, the chosen "
      "job blocks until it fits, BF is the published backfilling; `redecide`: clock `event`, every event "
      "looks afresh, BF is textbook EASY for the rules. Published: Zhang et al. (RLScheduler), SC 2020, and "
      "reruns of its authors' code. The mean alone rewards starving large jobs: "
      "p99 wait is the mean over sequences, the maximum is over all; Gini is of the jobs' bounded slowdowns. "
      "Weights are searched on the other log alone; what the encoder `Lookahead` shows was designed on "
      "windows of both (tools/tune/LUBLIN.md).");
  std::vector<Cells> csv;
  for (const LublinCase& c : LublinCases()) {
    for (const bool official : {true, false}) ReportCase(settings, runs, c, official, out, csv);
  }
  page.Csv("lublin.csv", {"log", "semantics", "sequences", "scheduler", "bounded_slowdown"}, csv);
  page.Picture("lublin.png", "mean bounded slowdown of learned policies and rules on the Lublin logs");
}

}  // namespace berth
