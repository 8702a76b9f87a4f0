// Row 4 of the page's targets: public logs of real GPU clusters, split by time. Microsoft ITP 02, 03 and 06
// on as many GPUs as make an offered load of 0.8, deadlines of the derived files (synthetic); Philly on 64
// nodes of 8.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/searched_order.hpp"
#include "tools/reproduce/learned/srpt_bound.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr int kBlocks = 10;       // of consecutive test jobs, for intervals
constexpr double kTrained = 0.7;  // of the jobs, by time: recipes train on no later one
constexpr double kWarm = 0.1;     // of the test jobs come first, unmeasured

struct Log {
  const char* name;
  const char* policy;
  const char* format;
  const char* file;
  const char* cluster;
  bool deadlines;
};
// GPUs for an offered load of 0.8, rounded up to nodes of 8: of the whole log (mean demands: 86, 140 and
// 87 GPUs), and of the test part, because load drifts: the part's own demand is 102, 226 and 37, so
// that the first sizes leave cluster 06 nearly idle there and overload cluster 03.
constexpr const char* kItp = "microsoft-itp-elasticflow/elasticflow-traces.tar.gz";
constexpr Log kLogs[] = {
    {"ITP 02", "itp02", "itp", ":cluster02.csv", "p100=112", true},
    {"ITP 02, load 0.8 in the test part", "itp02", "itp", ":cluster02.csv", "p100=128", true},
    {"ITP 03", "itp03", "itp", ":cluster03.csv", "p100=176", true},
    {"ITP 03, load 0.8 in the test part", "itp03", "itp", ":cluster03.csv", "p100=288", true},
    {"ITP 06", "itp06", "itp", ":cluster06.csv", "p100=112", true},
    {"ITP 06, load 0.8 in the test part", "itp06", "itp", ":cluster06.csv", "p100=48", true},
    {"Philly", "philly", "philly", "philly/philly_sorted.csv.gz", "p100=512/8", false},
};
constexpr const char* kAnyCluster =
    "p100=100000";  // whole logs have gangs that a small test cluster cannot run
constexpr const char* kRealOpponents[] = {
    "fcfs",     "easy",  "sjf",         "srpt",         "las",
    "tiresias", "tuned", "tuned_blind", "nash_welfare", "queue(order=saf,preemption=order,overtake=true)"};
constexpr const char* kForDeadlines[] = {"edf(preemptive=true)", "least_laxity", "deadline_admission"};

// What is left to gain: the same jobs in an order that was searched knowing all of them, which no scheduler
// does. Philly waits for nobody.
constexpr const char* kInOrder = "priority(preemptive=true,overtake=true)";
constexpr int kMoves = 5000, kQuickMoves = 20;

PlannedWorkload SearchedLog(PlannedWorkload workload, bool quick) {
  const int moves = quick ? kQuickMoves : kMoves;
  workload.change_name = Join("order searched in ", moves, " moves");
  workload.name += ", " + workload.change_name;
  workload.change = [window = workload.window, moves](const Scenario& jobs) {
    const std::vector<JobOrder> beginnings = {SmallestFirst(jobs)};
    return SearchedOrder(jobs, beginnings, {kInOrder, OrderSearch::Cost::kJct, window, moves, 1});
  };
  return workload;
}

// The least share of deadlines missed, and whose it is.
struct Misses {
  std::string of;
  double rate = 2.0;
  int undone = 0;
  void Add(const std::string& spec, const PlannedOutcome& run) {
    if (run.deadline_miss_rate < rate) of = spec, rate = run.deadline_miss_rate, undone = run.unfinished;
  }
};

std::string FileOf(const Log& log) {
  return log.file[0] == ':' ? Join(kItp, log.file) : log.file;
}

// "" where the file, or the archive that holds it, is not there.
std::string PathOf(const LearnedSettings& settings, const Log& log) {
  const std::string file = FileOf(log), path = settings.traces + "/" + file.substr(0, file.find(':'));
  return !settings.traces.empty() && std::filesystem::exists(path) ? settings.traces + "/" + file : "";
}

std::vector<std::string> OpponentsOf(const Log& log) {
  std::vector<std::string> specs(std::begin(kRealOpponents), std::end(kRealOpponents));
  if (log.deadlines) specs.insert(specs.end(), std::begin(kForDeadlines), std::end(kForDeadlines));
  return specs;
}

// The last 30% of the jobs, the first of them to fill the cluster.
PlannedWorkload TestPart(const Log& log, const std::string& path) {
  const FormatInfo& format = FindFormat(log.format);
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kAnyCluster);
  settings.clock = format.default_clock;
  const Scenario whole = format.read(path, settings);
  const int jobs = whole.num_jobs(), begin = static_cast<int>(kTrained * jobs), count = jobs - begin;
  ScenarioData data = Slice(whole, begin, jobs).data();
  data.cluster = ParseCluster(log.cluster);
  const auto test = std::make_shared<const Scenario>(std::move(data));
  return {Join(log.name, ", jobs ", begin, ":", jobs), {static_cast<int>(kWarm * count), count}, [test] {
            return *test;
          }};
}

// Mean JCT of consecutive blocks of the measured jobs; NaN where one is not done.
std::vector<double> BlockMeans(const std::vector<double>& jct_s) {
  std::vector<double> means;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const std::size_t begin = b * jct_s.size() / kBlocks, end = (b + 1) * jct_s.size() / kBlocks;
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += jct_s[i];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

const PlannedOutcome* Whole(const ReproductionRuns& runs, const PlannedWorkload& workload,
                            const std::string& spec) {
  const PlannedOutcome* run = runs.Find(workload, spec);
  return run != nullptr && run->error.empty() && !run->stopped ? run : nullptr;
}

std::string WhyNot(const ReproductionRuns& runs, const PlannedWorkload& workload, const std::string& spec) {
  const PlannedOutcome* run = runs.Find(workload, spec);
  if (run == nullptr) return "not available";
  return run->stopped ? Join("> ", Fixed(run->cpu_s, 0), " CPU s") : "failed: " + run->error;
}

// Of those that ran to the end.
std::vector<Grid> Blocks(const ReproductionRuns& runs, const PlannedWorkload& workload,
                         const std::vector<std::string>& specs) {
  std::vector<Grid> grids;
  for (const std::string& spec : specs) {
    const PlannedOutcome* run = Whole(runs, workload, spec);
    if (run != nullptr) grids.push_back({BlockMeans(run->jct_s)});
  }
  return grids;
}

void ReportLog(const Log& log, const PlannedWorkload& workload, const LearnedSettings& settings,
               const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  const std::vector<TrainedPolicy> policies = settings.policies.Find(log.policy);
  page.Paragraph(Join("**", log.name, "**: `", log.cluster, "`, ",
                      workload.window.end - workload.window.begin, " measured jobs; policies `", log.policy,
                      "`"));
  if (const std::string missing = settings.policies.Missing(log.policy); !missing.empty())
    page.Paragraph(Join("Not available: ", missing, "."));
  std::vector<Grid> learned;
  std::vector<Cells> rows;
  const auto cells = [&](const std::string& name, const PlannedOutcome& run) {
    return Cells{name,
                 run.unfinished > 0
                     ? Join(Fixed(run.mean_jct_s / 3600.0, 2), " (", run.unfinished, " undone)")
                     : Fixed(run.mean_jct_s / 3600.0, 2),
                 Fixed(run.p99_jct_s / 3600.0, 1), Fixed(run.max_wait_s / 3600.0, 1),
                 log.deadlines ? Join(Fixed(100.0 * run.deadline_miss_rate, 2), "%") : "-"};
  };
  double missed = 0.0;
  for (const TrainedPolicy& policy : policies) {
    const PlannedOutcome* run = Whole(runs, workload, policy.Spec());
    const std::string name = Join("**learned**, seed ", policy.seed);
    if (run == nullptr) {
      rows.push_back({name, WhyNot(runs, workload, policy.Spec()), "-", "-", "-", "-"});
      continue;
    }
    learned.push_back({BlockMeans(run->jct_s)});
    missed += run->deadline_miss_rate;
    rows.push_back(cells(name, *run));
    rows.back().emplace_back("");
  }
  std::string nearest;
  double nearest_jct_s = 0.0;
  Comparison nearest_comparison;
  Misses all_told, whole;
  for (const std::string& spec : OpponentsOf(log)) {
    const PlannedOutcome* run = Whole(runs, workload, spec);
    if (run == nullptr) {
      rows.push_back({Join("`", spec, "`"), WhyNot(runs, workload, spec), "-", "-", "-", "-"});
      continue;
    }
    rows.push_back(cells(Join("`", spec, "`"), *run));
    all_told.Add(spec, *run);
    if (run->unfinished == 0) whole.Add(spec, *run);
    if (learned.empty() || run->unfinished > 0) {
      rows.back().emplace_back("-");
      continue;
    }
    const Comparison all = Compare(learned, {BlockMeans(run->jct_s)}, kBootstrapSeed);
    rows.back().push_back(WithInterval(all.overall, 3));
    if (nearest.empty() || all.overall.mean > nearest_comparison.overall.mean)
      nearest = spec, nearest_comparison = all, nearest_jct_s = run->mean_jct_s;
  }
  double searched = std::nan("");
  if (const PlannedOutcome* run = Whole(runs, SearchedLog(workload, settings.quick), kInOrder)) {
    searched = run->mean_jct_s / nearest_jct_s;
    rows.push_back(cells("an order searched knowing all jobs", *run));
    rows.back().emplace_back("-");
  }
  page.Rows({"scheduler", "mean JCT h", "p99 JCT h", "max wait h", "deadlines missed", "learned / it [95%]"},
            rows);

  const std::string row = Join("4, ", log.name);
  if (learned.empty()) {
    out.targets.push_back(NotMeasured(row, "mean JCT below every scheduler of the table", "no policies"));
    return;
  }
  Target target =
      RatioTarget(row, "mean JCT below every scheduler of the table", nearest_comparison.overall, 1.0, true);
  target.measured += Join(" to the nearest, `", nearest, "`");
  constexpr double kEqual = 1.0 - 1e-9;  // an idle cluster: every job runs at once
  Bound(target, SrptBound(workload.make(), workload.window) / nearest_jct_s, kEqual);
  if (!settings.quick) Headroom(target, searched, 1.0);
  out.targets.push_back(std::move(target));
  AddTwoWays({row, learned, Blocks(runs, workload, settings.policies.Specs(ByGradient(log.policy))), nearest,
              Blocks(runs, workload, {nearest})[0]},
             out);
  if (!log.deadlines || whole.of.empty()) return;
  missed /= static_cast<double>(learned.size());
  const auto fewer = [&](const Misses& than, const char* what, const std::string& why, Verdict otherwise) {
    out.targets.push_back(
        {row,
         Join("no more deadlines missed than `", than.of, "`", what, ", ", Fixed(100.0 * than.rate, 2), "%"),
         Join(Fixed(100.0 * missed, 2), "%", why), missed <= than.rate ? Verdict::kMet : otherwise});
  };
  const bool rejects = whole.of != all_told.of;
  fewer(all_told, "",
        rejects ? Join("; it leaves ", all_told.undone, " jobs undone, which the policies run") : "",
        rejects ? Verdict::kWithdrawn : Verdict::kNotMet);
  if (rejects) fewer(whole, ", the best that runs every job", "", Verdict::kNotMet);
}

}  // namespace

void PlanReal(const LearnedSettings& settings, ReproductionRuns& runs) {
  for (const Log& log : kLogs) {
    const std::string path = PathOf(settings, log);
    if (path.empty()) continue;
    const PlannedWorkload workload = TestPart(log, path);
    for (const std::string& spec : OpponentsOf(log)) runs.Plan(workload, spec, 0.1);
    for (const std::string& spec : settings.policies.SpecsBothWays(log.policy))
      runs.Plan(workload, spec, 0.5);
    if (log.deadlines)
      runs.Plan(SearchedLog(workload, settings.quick), kInOrder,
                0.02 * (settings.quick ? kQuickMoves : kMoves));
  }
}

void ReportReal(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  out.page.Heading("Real GPU clusters, split by time");
  out.page.Paragraph(
      "Policies are trained on the first 70% of a log's jobs and run on the rest, of which the first tenth "
      "fills "
      "the cluster unmeasured. One GPU type (the logs name none), clock `event`. ITP clusters have as many "
      "GPUs "
      "as make an offered load of 0.8, of the whole log or of the part that is tested; their deadlines are "
      "those "
      "of the derived files, synthetic. A log is "
      "one "
      "workload: intervals are over ten consecutive blocks of its jobs, which are not independent, and over "
      "training seeds.");
  for (const Log& log : kLogs) {
    const std::string path = PathOf(settings, log);
    if (path.empty()) {
      out.page.Paragraph(Join("**", log.name, "** is not available: ", FileOf(log),
                              " in the folder of public traces (`--traces`)."));
      out.targets.push_back(
          NotMeasured(Join("4, ", log.name), "mean JCT below every scheduler of the table", "no trace"));
      continue;
    }
    ReportLog(log, TestPart(log, path), settings, runs, out);
  }
}

}  // namespace berth
