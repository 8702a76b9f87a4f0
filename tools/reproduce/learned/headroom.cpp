// What is left to gain where a target of rows 2 and 3 is not met: the same sequences in an order that was
// searched knowing all arrivals and run times, which no scheduler does.
#include <algorithm>
#include <cmath>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/lublin_cases.hpp"
#include "tools/reproduce/learned/searched_order.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr int kTrials = 3000, kQuickTrials = 20;

std::vector<std::string> RuleSpecs(const LublinCase& c) {
  std::vector<std::string> specs;
  for (const ScoreRule& rule : ScoreRules()) specs.push_back(RuleSpec(rule, c));
  return specs;
}

std::string InOrderSpec(const LublinCase& c) {
  return Join("priority(semantics=", ToString(c.semantics),
              ",backfill=", c.setting->backfill ? "easy" : "none", ")");
}

PlannedWorkload SearchedStart(const std::shared_ptr<const Scenario>& log, const LublinCase& c, int start,
                              bool quick) {
  const int trials = quick ? kQuickTrials : kTrials;
  PlannedWorkload workload = SequenceWorkload(log, c, start);
  workload.change_name = Join("order searched in ", trials, " moves");
  workload.name += Join(c.setting->backfill ? ", backfilled, " : ", ", workload.change_name);
  workload.change = [rules = RuleSpecs(c), spec = InOrderSpec(c), trials, start](const Scenario& sequence) {
    std::vector<JobOrder> beginnings;
    for (const std::string& rule : rules) beginnings.push_back(StartOrder(sequence, rule));
    return SearchedOrder(sequence, beginnings,
                         {spec,
                          OrderSearch::Cost::kBoundedSlowdown,
                          {0, sequence.num_jobs()},
                          trials,
                          static_cast<std::uint64_t>(start)});
  };
  return workload;
}

// Mean bounded slowdown of each of the disjoint windows; NaN where there is no run.
std::vector<double> Slowdowns(const ReproductionRuns& runs, const std::string& spec,
                              const std::function<PlannedWorkload(int)>& workload) {
  std::vector<double> slowdown;
  for (const int start : HpcDisjointStarts()) {
    const PlannedOutcome* run = runs.FindWhole(workload(start), spec);
    slowdown.push_back(run != nullptr ? run->hpc_bounded_slowdown : std::nan(""));
  }
  return slowdown;
}

}  // namespace

void PlanHeadroom(const LearnedSettings& settings, ReproductionRuns& runs) {
  const std::string folder = LublinFolder(settings);
  if (folder.empty()) return;
  for (const LublinCase& c : LublinCases()) {
    const std::shared_ptr<const Scenario> log = ReadLublin(folder, c);
    const double cost = kSequenceCost * (settings.quick ? kQuickTrials : kTrials);
    for (const int start : HpcDisjointStarts()) {
      runs.Plan(SearchedStart(log, c, start, settings.quick), InOrderSpec(c), cost);
      for (const std::string& rule : RuleSpecs(c))
        runs.Plan(SequenceWorkload(log, c, start), rule, kSequenceCost);
      for (const TrainedPolicy& policy : settings.policies.Find(c.policy))
        runs.Plan(SequenceWorkload(log, c, start), policy.Spec(), 20 * kSequenceCost);
    }
  }
}

void ReportHeadroom(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  page.Heading("What a clairvoyant order gains on the Lublin logs");
  if (LublinFolder(settings).empty()) {
    page.Paragraph("Not available: rlscheduler-lublin in the folder of public traces (`--traces`).");
    return;
  }
  page.Paragraph(
      "The eight disjoint windows of each table, mean bounded slowdown. `searched`: who goes first was "
      "searched by "
      "one who knows every arrival and run time (a job moved at a time, thousands of runs a window, from the "
      "best order that a rule starts them in); it is no bound, a longer search may find better. Ratios to "
      "the best rule, 95% over windows. "
      "Where even the searched order's interval holds 1, eight windows cannot tell.");
  std::vector<Cells> rows;
  for (const LublinCase& c : LublinCases()) {
    const std::shared_ptr<const Scenario> none;
    const auto plain = [&](int start) { return SequenceWorkload(none, c, start); };
    std::string best_name;
    std::vector<double> best;
    for (const ScoreRule& rule : ScoreRules()) {
      const std::vector<double> all = Slowdowns(runs, RuleSpec(rule, c), plain);
      if (!std::isnan(Mean(all)) && (best_name.empty() || Mean(all) < Mean(best)))
        best = all, best_name = rule.name;
    }
    const std::vector<double> searched = Slowdowns(
        runs, InOrderSpec(c), [&](int start) { return SearchedStart(none, c, start, settings.quick); });
    if (best_name.empty() || std::isnan(Mean(searched))) continue;
    std::vector<Grid> learned;
    double mean = 0.0;
    for (const TrainedPolicy& policy : settings.policies.Find(c.policy))
      learned.push_back({Slowdowns(runs, policy.Spec(), plain)});
    for (const Grid& grid : learned) mean += Mean(grid[0]) / static_cast<double>(learned.size());
    const std::vector<Grid> clairvoyant = {{searched}};
    rows.push_back({Join(c.setting->name, ", `", ToString(c.semantics), "`"),
                    Join(best_name, " ", Fixed(Mean(best), 2)),
                    learned.empty() ? "not available" : Fixed(mean, 2), Fixed(Mean(searched), 2),
                    learned.empty() ? "-" : WithInterval(Compare(learned, {best}, kBootstrapSeed).overall, 3),
                    WithInterval(Compare(clairvoyant, {best}, kBootstrapSeed).overall, 3)});
  }
  page.Rows(
      {"sequences", "best rule", "learned", "searched", "learned / rule [95%]", "searched / rule [95%]"},
      rows);
}

}  // namespace berth
