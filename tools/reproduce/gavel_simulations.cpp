// The reference's own traces rerun with its policies: mean JCT (static traces: makespan too) beside what its
// code gave when run unpatched (commit c4fa400 of stanford-futuredata/gavel). LP optima are not unique, so a
// run under an exact solver may differ by a few percent: every solver is shown, the default one is held.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "baselines/schedulers.hpp"
#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_workloads.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kJctTolerance = 0.03, kMakespanTolerance = 0.01;  // our own
constexpr const char* kBroken = "fifo";  // the reference's base FIFO is broken (fifo.py): shown, not held
constexpr const char* kSolvers[] = {"ipm", "simplex", "reference"};

struct ReferenceRun {
  std::string trace, policy;
  Window window;
  bool is_static;
  double mean_jct_s, makespan_s;
};

std::vector<ReferenceRun> ReadReferenceRuns(const GavelSettings& settings) {
  std::vector<ReferenceRun> runs;
  if (settings.results.empty()) return runs;
  constexpr const char* kColumns[] = {"trace",  "policy",    "window_start", "window_end",
                                      "status", "avg_jct_s", "makespan_s"};
  CsvFile file(settings.results, kColumns);
  while (file.Next()) {
    if (file.Text("status") != "ok") continue;
    const bool all = file.Text("window_start").empty();
    const Window window = all ? Window{} : Window{file.Integer("window_start"), file.Integer("window_end")};
    runs.push_back({file.Text("trace"), file.Text("policy"), window, all, file.Number("avg_jct_s"),
                    file.Number("makespan_s")});
  }
  return runs;
}

// What stands for the policy under a solver: the spec with solver= added, where the scheduler has that
// choice. The second is of policies that solve nothing.
std::string WithSolver(const std::string& spec, const std::string& solver) {
  return spec.substr(0, spec.size() - 1) + ",solver=" + solver + ")";
}

std::string DefaultSolver() {
  for (const SchedulerInfo& row : BaselineSchedulers()) {
    if (std::string(row.name) != "gavel") continue;
    for (const ParamInfo& param : row.params) {
      if (std::string(param.name) == "solver") return param.default_value;
    }
  }
  return "";
}

bool SolvesLps(const std::string& policy) {
  for (const char* name :
       {"isolated", "proportional", "fifo", "fifo_perf", "fifo_packed", "allox", "gandiva"}) {
    if (policy == name) return false;
  }
  return true;
}

struct Variant {
  std::string spec, solver;  // solver "-": nothing to solve
  bool is_default;
};
std::vector<Variant> Variants(const ReferenceRun& run, bool quick) {
  const std::string spec = SpecOfReferencePolicy(run.policy);
  if (spec.empty()) return {};
  if (!SolvesLps(run.policy)) return {{spec, "-", true}};
  std::vector<Variant> variants;
  for (const char* solver : kSolvers) {
    const bool is_default = solver == DefaultSolver();
    const std::string full = WithSolver(spec, solver);
    if ((is_default || !quick) && WhyNotAvailable(full).empty())
      variants.push_back({full, solver, is_default});
  }
  return variants;
}

double Cost(const ReferenceRun& run) {
  return run.policy.starts_with("finish_time_fairness") ? 6.0 : SolvesLps(run.policy) ? 1.0 : 0.1;
}

bool SkipRun(const GavelSettings& settings, const ReferenceRun& run) {
  return settings.quick && run.policy.starts_with("finish_time_fairness");
}

// One figure of one run beside the reference's.
struct Comparison {
  const char* figure;
  double reference, measured, tolerance;
  bool held;
  double ratio() const { return measured / reference; }
  bool within() const { return std::abs(ratio() - 1.0) <= tolerance; }
};

// Static traces are held to the makespan, windows to the mean JCT; the other figure is shown.
std::vector<Comparison> Compare(const ReferenceRun& run, const PlannedOutcome& outcome, bool may_hold) {
  const bool hold = may_hold && run.policy != kBroken;
  return {{"mean JCT", run.mean_jct_s, outcome.mean_jct_s, kJctTolerance, hold && !run.is_static},
          {"makespan", run.makespan_s, outcome.makespan_s, kMakespanTolerance, hold && run.is_static}};
}

std::string RatioText(const Comparison& comparison) {
  const std::string text = Fixed(comparison.ratio(), 4);
  return !comparison.held ? text : comparison.within() ? "**" + text + "**" : "**" + text + " OUT**";
}

}  // namespace

void PlanSimulations(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const ReferenceRun& run : ReadReferenceRuns(settings)) {
    if (SkipRun(settings, run)) continue;
    const std::vector<Variant> variants = Variants(run, settings.quick);
    if (variants.empty()) continue;
    const PlannedWorkload workload = TraceWorkload(settings.traces, run.trace, run.window);
    for (const Variant& variant : variants) runs.Plan(workload, variant.spec, Cost(run));
  }
}

bool ReportSimulations(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  page.Heading("The reference's own simulations");
  if (settings.results.empty()) {
    page.Paragraph("Not run: the reference's traces are not here (`--reference DIR`).");
    return true;
  }
  std::vector<ReproductionPage::Cells> rows, csv;
  int held = 0, out = 0, failed = 0;
  double largest = 0.0;
  for (const ReferenceRun& run : ReadReferenceRuns(settings)) {
    if (SkipRun(settings, run)) continue;
    const std::vector<Variant> variants = Variants(run, settings.quick);
    ReproductionPage::Cells row = {run.trace, "`" + run.policy + "`",
                                   Fixed(run.is_static ? run.makespan_s : run.mean_jct_s, 0)};
    std::string shown;
    for (const char* solver : kSolvers) {
      std::string cell = variants.empty() ? "not available" : "";
      for (const Variant& variant : variants) {
        if (variant.solver != solver && !(variant.solver == "-" && std::string(solver) == kSolvers[0]))
          continue;
        const PlannedOutcome* outcome =
            runs.Find(TraceWorkload(settings.traces, run.trace, run.window), variant.spec);
        if (outcome == nullptr) continue;
        if (!outcome->error.empty()) {
          cell = "failed: " + outcome->error;
          ++failed;  // nothing of it is held
          continue;
        }
        for (const Comparison& c : Compare(run, *outcome, variant.is_default)) {
          const bool main = (std::string(c.figure) == "makespan") == run.is_static;
          held += c.held, out += c.held && !c.within();
          if (c.held) largest = std::max(largest, std::abs(c.ratio() - 1.0));
          if (main) cell = RatioText(c);
          if (!main && variant.is_default) shown = RatioText(c);
          csv.push_back({run.trace, run.policy, variant.spec, variant.solver, c.figure, Exact(c.reference),
                         Exact(c.measured), Exact(c.ratio()), c.held ? Exact(c.tolerance) : "",
                         !c.held      ? "shown"
                         : c.within() ? "within"
                                      : "out"});
        }
      }
      row.push_back(cell);
    }
    row.push_back(shown);
    rows.push_back(row);
  }
  page.Paragraph(
      Join("Exact traces of the reference on its own cluster and round mechanism; the published side was "
           "measured by "
           "running the authors' code. The ratio is ours over theirs of the mean JCT of the window (static "
           "traces: of "
           "the makespan). Bold ratios are held, to ",
           Fixed(100 * kJctTolerance, 0), "% (static makespan ", Fixed(100 * kMakespanTolerance, 0),
           "%): those of the default `solver=", DefaultSolver(),
           "`. LP optima are not unique, and another solver moves the reference itself by -2.7 to +6.8% "
           "(GLPK or CLARABEL in place of ECOS). Policies without an LP have one ratio. `fifo` is the "
           "reference's broken base "
           "FIFO beside FIFO as it is meant: shown, not held; so are makespans of windows. ",
           held, " held, ", held - out, " within, largest deviation ", Fixed(100 * largest, 2), "%",
           failed > 0 ? Join(", ", Counted(failed, "run"), " failed.") : "."));
  page.Rows({"trace", "policy", "reference, s", "ratio, ipm or no LP", "simplex", "reference's point",
             "the other figure (makespan; static: JCT)"},
            rows);
  page.Csv("simulations.csv",
           {"trace", "policy", "scheduler", "solver", "figure", "reference_s", "measured_s", "ratio",
            "tolerance", "verdict"},
           csv);
  return out + failed == 0;
}

}  // namespace berth
