// berth reproduce shift: shipped policies on workloads that they were not trained on, alone and under
// `guard`, against the best of a few rules.
#include <cmath>
#include <iostream>

#include "env/base/index.hpp"
#include "env/sim/statistics.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/shift/shifts.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kPage = "shift.md";
constexpr int kQuickWorkloads = 5, kQuickPolicies = 2;
constexpr double kCost = 0.1;  // of a run against one under max-min fairness
// Policies for other aims or other clusters, one training seed each: they see and do the same.
constexpr const char* kOthers[] = {"objective_makespan", "objective_ftf", "objective_cost",
                                   "objective_weighted", "itp02",         "philly"};

struct Column {
  std::string name, spec;
};

struct ShiftTable {
  std::string title;
  Knowledge knowledge;
  std::span<const char* const> rules;
  std::vector<Column> columns;
};

// It takes estimates of run times where a shift has no better; where they are known that changes nothing.
std::string SpecOf(const TrainedPolicy& policy) {
  return Join("policy(file=", policy.file, ",estimated=true)");
}

std::string Guarded(const std::string& policy, const char* fallback) {
  return Join("guard(policy=", policy, ",fallback=", fallback, ")");
}

std::vector<ShiftTable> Tables(int training_seeds) {
  std::vector<ShiftTable> tables;
  for (const ShiftPart& part : ShiftParts()) {
    ShiftTable table{Join("`", part.policy, "`, ", part.title), part.knowledge, part.rules, {}};
    table.columns.push_back({Join("`", part.rules[0], "`"), part.rules[0]});
    for (const bool guard : {false, true}) {
      for (const TrainedPolicy& policy :
           PolicyShelf(HomeFile("data/policies"), 1, training_seeds + 1).Find(part.policy))
        table.columns.push_back({Join(guard ? "guard, " : "", "seed ", policy.seed),
                                 guard ? Guarded(SpecOf(policy), part.rules[0]) : SpecOf(policy)});
    }
    tables.push_back(std::move(table));
  }
  const ShiftPart& known = ShiftParts()[0];
  ShiftTable others{
      "policies for other aims (`objective_*`) and other clusters (`itp02`, `philly`), training seed 1",
      known.knowledge,
      known.rules,
      {}};
  for (const char* name : kOthers) {
    for (const TrainedPolicy& policy : PolicyShelf(HomeFile("data/policies"), 1, 2).Find(name)) {
      others.columns.push_back({Join("`", name, "`"), SpecOf(policy)});
      others.columns.push_back({"guard", Guarded(SpecOf(policy), known.rules[0])});
    }
  }
  tables.push_back(std::move(others));
  return tables;
}

// One scheduler under one shift.
struct Cell {
  std::vector<double> means;  // [workloads] s
  bool keeps_up = true;
  std::string why;  // it has no figures
};

Cell CellOf(const ReproductionRuns& runs, const Shift& shift, Knowledge knowledge,
            const std::vector<std::uint64_t>& seeds, const std::string& spec) {
  Cell cell;
  std::vector<double> growth;
  for (const std::uint64_t seed : seeds) {
    const PlannedOutcome* run = runs.Find(WorkloadOf(shift, knowledge, seed), spec);
    if (run == nullptr || run->stopped) {
      cell.why = "not run";
    } else if (!run->error.empty()) {
      cell.why = "refused";
    } else if (run->unfinished > 0) {
      cell.why = Join(run->unfinished, " jobs undone");
    } else {
      cell.means.push_back(run->mean_jct_s), growth.push_back(run->backlog_growth);
    }
  }
  cell.keeps_up = KeepsUp(growth);
  return cell;
}

void WriteTable(const ShiftTable& table, const std::vector<std::uint64_t>& seeds,
                const ReproductionRuns& runs, ReproductionPage& page, std::vector<Cells>& csv) {
  page.Heading(table.title);
  Cells header = {"shift", "best rule", "its h"};
  for (const Column& column : table.columns) header.push_back(column.name);
  std::vector<Cells> rows;
  std::vector<double> sums(table.columns.size()), worst(table.columns.size());
  std::vector<int> counted(table.columns.size()), with_figures(table.columns.size());
  for (const Shift& shift : Shifts()) {
    Cell best;
    std::string rule, without;
    for (const char* spec : table.rules) {
      Cell cell = CellOf(runs, shift, table.knowledge, seeds, spec);
      if (!cell.why.empty()) without += Join(without.empty() ? "" : ", ", "`", spec, "` ", cell.why);
      if (!cell.why.empty() || (!rule.empty() && Mean(cell.means) >= Mean(best.means))) continue;
      best = std::move(cell), rule = spec;
    }
    const std::string named = rule.empty() ? std::string("none ran") : Join("`", rule, "`");
    Cells row = {shift.name, without.empty() ? named : Join(named, " (", without, ")"),
                 rule.empty() ? "" : Join(Fixed(Mean(best.means) / 3600.0, 1), best.keeps_up ? "" : "†")};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell cell = CellOf(runs, shift, table.knowledge, seeds, table.columns[c].spec);
      if (!cell.why.empty() || rule.empty()) {
        row.push_back(cell.why);
        continue;
      }
      const Interval ratio = BootstrapRatio(cell.means, best.means, kBootstrapSeed);
      row.push_back(Join(WithInterval(ratio, 2), cell.keeps_up ? "" : "†"));
      csv.push_back({table.title, shift.name, rule, table.columns[c].spec, Exact(ratio.mean),
                     Exact(ratio.low), Exact(ratio.high), cell.keeps_up && best.keeps_up ? "1" : "0"});
      worst[c] = std::max(worst[c], ratio.mean), ++with_figures[c];
      if (cell.keeps_up && best.keeps_up) sums[c] += ratio.mean, ++counted[c];
    }
    rows.push_back(std::move(row));
  }
  Cells mean = {"**mean of those carried**", "", ""}, most = {"**worst of all**", "", ""};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    mean.push_back(counted[c] > 0 ? Join(Fixed(sums[c] / counted[c], 2), " of ", counted[c]) : "-");
    const bool all = with_figures[c] == static_cast<int>(Shifts().size());
    most.push_back(with_figures[c] == 0 ? "-"
                   : all                ? Fixed(worst[c], 2)
                                        : Join(Fixed(worst[c], 2), " of ", with_figures[c]));
  }
  rows.push_back(mean), rows.push_back(most);
  page.Rows(header, rows);
}

void AddOptions(Options& options) {
  options.Value("seeds", "1000:1010", "workloads, of a stream that training cannot draw");
  options.Switch("quick", Join(kQuickWorkloads, " workloads and ", kQuickPolicies, " training seeds"));
  options.Value("limit-s", "5", "CPU seconds of one run; what takes longer is not run");
  options.Switch("estimate", "list the runs and the time they take, and stop");
  AddThreads(options, "the page does");
  options.Value("out", "", Join("folder for the page ", kPage, ", shift.csv and runs/ (kept results)"));
}

}  // namespace

int ReproduceShift(const std::vector<std::string>& arguments) {
  Options options("reproduce shift", "[--quick] --out DIR",
                  "shipped policies where they were not trained, alone and under guard");
  AddOptions(options);
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  const bool quick = options.Bool("quick");
  std::vector<std::uint64_t> seeds = SeedList(options, "seeds");
  if (seeds.size() < 2)
    throw Error(
        Join(options.Where("seeds"), ": expected two workloads or more, found ", options.Text("seeds")));
  if (quick) seeds.resize(std::min<std::size_t>(seeds.size(), kQuickWorkloads));
  const std::vector<ShiftTable> tables = Tables(quick ? kQuickPolicies : 5);
  const bool only_estimate = options.Bool("estimate");
  const std::string out = only_estimate ? options.Text("out") : options.Required("out");
  if (!only_estimate) HoldFolder(out, options.Where("out"), "berth reproduce", {"runs"});
  ReproductionRuns runs("reproduce shift", out + "/runs", {options.Number("limit-s", 0.001, 1e9), false});
  for (const ShiftTable& table : tables) {
    for (const Shift& shift : Shifts()) {
      for (const std::uint64_t seed : seeds) {
        const PlannedWorkload workload = WorkloadOf(shift, table.knowledge, seed);
        for (const char* rule : table.rules) runs.Plan(workload, rule, kCost);
        for (const Column& column : table.columns) runs.Plan(workload, column.spec, kCost);
      }
    }
  }
  if (const auto ended = MakeRuns(options, runs)) return *ended;

  ReproductionPage page;
  std::vector<Cells> csv;
  page.Paragraph("# Learned schedulers where they were not trained");
  page.Paragraph(Join(
      "Made by `", MadeBy(options, {"quick", "seeds", "limit-s"}), "` from source ", SourceCommit(), ". ",
      runs.planned(), " runs, ", Duration(runs.cpu_s()),
      " of one core. Mean JCT of jobs 300 to 700 of 1,000 over that of the best rule of the row (least "
      "mean), ",
      seeds.size(),
      " workloads, paired 95% intervals; below 1 the policy is ahead. Clock `rounds(360)`; all else is in ",
      "`tools/reproduce/shift/shifts.cpp`. Rules: those that know no more, with default parameters. `guard` "
      "falls back to "
      "`srpt`, blind to `las`. ",
      UnstableMark(),
      ". The mean is of the cells without †, under a rule without one. A rule or a policy that does not end "
      "every workload within `--limit-s` is \"not run\": such rules stand in brackets behind the best of the "
      "others; \"of N\": cells that have figures, where not all do."));
  for (const ShiftTable& table : tables) WriteTable(table, seeds, runs, page, csv);
  page.Csv("shift.csv", {"table", "shift", "rule", "scheduler", "ratio", "low", "high", "carried"}, csv);
  page.Write(out, kPage);
  std::cout << page.text();
  return 0;
}

}  // namespace berth
