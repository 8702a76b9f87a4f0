// berth reproduce pollux: the simulator of the Pollux artifact (Qiao et al., OSDI 2021), recorded and
// measured side by side.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>

#include "env/base/check.hpp"
#include "env/base/thread_team.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/plot_script.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/pollux/measured.hpp"
#include "tools/reproduce/pollux/recorded.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// A policy of the artifact, and ours of that name.
struct Policy {
  const char* name;
  const char* shown;
  const char* scheduler;
  const char* batch;
  // Of the mean JCT over workloads; 0: deterministic, every job's times are the recorded ones.
  double tolerance;
};
constexpr Policy kPolluxPolicies[] = {
    {"tiresias", "tiresias", "tiresias(thresholds=57600,order=entered,nodes=most_free)", "submitted", 0.0},
    {"optimus", "optimus", "optimus_tuned", "submitted", 0.0},
    {"pollux", "pollux_genetic", "pollux(search=genetic)", "best", 0.05},
    {"pollux", "pollux_ruin_recreate", "pollux", "best", 0.05},
};

struct Pair {
  const Policy* policy;
  const pollux::Run* recorded;
  pollux::Measured measured;
};

// A policy at a load, over its workloads.
struct PolluxRow {
  const Policy* policy;
  std::string load;
  int runs = 0, jobs = 0, times = 0, restarts = 0;  // jobs whose times and restarts differ
  double mean = 0.0, recorded = 0.0, cpu = 0.0;     // s, means over runs
  bool held = false;

  bool exact() const { return policy->tolerance == 0.0; }
};

PolluxRow RowOf(const Policy& policy, const std::string& load, const std::vector<Pair>& pairs) {
  PolluxRow row{&policy, load};
  for (const Pair& pair : pairs) {
    const pollux::Run& run = *pair.recorded;
    if (pair.policy != &policy || run.load != load) continue;
    for (std::size_t job = 0; job < run.seconds.size(); ++job) {
      row.times += std::abs(pair.measured.seconds[job] - run.seconds[job]) > 1e-6;
      row.restarts += !run.restarts.empty() && pair.measured.restarts[job] != run.restarts[job];
    }
    ++row.runs, row.jobs += static_cast<int>(run.seconds.size());
    row.mean += pair.measured.Mean(), row.recorded += run.Mean(), row.cpu += pair.measured.cpu_s;
  }
  if (row.runs == 0) return row;
  row.mean /= row.runs, row.recorded /= row.runs, row.cpu /= row.runs;
  row.held = row.exact() ? row.times + row.restarts == 0
                         : std::abs(row.mean / row.recorded - 1.0) <= policy.tolerance;
  return row;
}

// Those that folder `kept` has not, "" = none; what ends is kept there.
void RunPairs(const pollux::Folder& folder, int threads, const std::string& kept, std::vector<Pair>& pairs) {
  Progress progress("pollux");
  std::atomic<std::size_t> done = 0;
  ThreadTeam team(threads);
  team.Run(static_cast<int>(pairs.size()), [&](int i) {
    Pair& pair = pairs[static_cast<std::size_t>(i)];
    const Policy& policy = *pair.policy;
    const pollux::Run& run = *pair.recorded;
    const std::string name = Join(policy.shown, "-", run.load, "-", run.workload);
    const std::string key =
        kept.empty() ? "" : Join(policy.scheduler, " on ", folder.Hash(run.load, run.workload, policy.batch));
    const auto before =
        kept.empty() ? std::nullopt : pollux::ReadMeasured(kept, name, key, run.seconds.size());
    pair.measured =
        before ? *before
               : pollux::RunToEnd(folder.Workload(run.load, run.workload, policy.batch), policy.scheduler);
    if (!kept.empty() && !before) pollux::WriteMeasured(kept, name, key, pair.measured);
    progress.Update(static_cast<double>(++done) / static_cast<double>(pairs.size()),
                    Join(run.policy, ", load ", run.load, ", workload ", run.workload));
  });
}

ReproductionPage::Cells PolluxCells(const PolluxRow& row) {
  const auto if_exact = [&row](int count) { return row.exact() ? Join(count) : std::string("-"); };
  return {row.policy->shown,
          row.load,
          Join(row.runs),
          Join(row.jobs),
          if_exact(row.times),
          if_exact(row.restarts),
          Fixed(row.mean, 1),
          Fixed(row.recorded, 1),
          Fixed(row.mean / row.recorded, 4),
          row.held ? "yes" : "NO",
          Fixed(row.cpu, 3)};
}

Json JsonOf(const PolluxRow& row) {
  return {{"policy", row.policy->shown},
          {"load", row.load},
          {"runs", row.runs},
          {"jobs", row.jobs},
          {"times_that_differ", row.times},
          {"restarts_that_differ", row.restarts},
          {"mean_jct_s", row.mean},
          {"recorded_mean_jct_s", row.recorded},
          {"held", row.held},
          {"cpu_s_per_run", row.cpu}};
}

void WritePolluxPage(const std::string& out, const std::string& command, const std::vector<PolluxRow>& rows,
                     const ReproductionPage::Cells& header,
                     const std::vector<ReproductionPage::Cells>& cells) {
  ReproductionPage page;
  page.Paragraph("# The simulator of the Pollux artifact (Qiao et al., OSDI 2021): recorded and measured");
  page.Paragraph(Join(
      "Made by `", command, "` from source ", SourceCommit(),
      ". 16 nodes of 4 T4, rounds of 60 s, six workloads at each load; load 1 is 160 jobs in 8 hours. "
      "Recorded: the runs of the artifact. Tiresias and Optimus decide without chance: every job's "
      "completion "
      "and every count of restarts has to be the recorded one. Pollux searches at random and its runs were "
      "recorded once: the mean over the six workloads has to be within 5%. `pollux_genetic` is the authors' "
      "search, `pollux_ruin_recreate` ours, the default of the scheduler `pollux`."));
  page.Rows(header, cells);
  std::vector<ReproductionPage::Cells> points;
  for (const PolluxRow& row : rows)
    points.push_back({row.policy->name, row.policy->shown, row.load, Exact(row.recorded / 3600.0),
                      Exact(row.mean / 3600.0)});
  page.Csv("pollux.csv", {"recorded_policy", "policy", "load", "recorded_h", "measured_h"},
           std::move(points));
  page.Picture("pollux.png", "mean JCT over load: lines measured, crosses recorded");
  page.Write(out, "pollux.md");
}

}  // namespace

int ReproducePollux(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce pollux", "--folder DIR [options]",
      "the policies of the Pollux artifact (OSDI 2021) on its workloads, recorded and measured; exit "
      "code 1 where a deterministic one differs in any job, or Pollux' mean by more than 5%");
  options.Value("folder", "",
                "profiles, workloads and records, not shipped [one beside the sources, if there]");
  options.Value("policies", "", "such as tiresias,optimus; the others take minutes [all]");
  options.Value("loads", "", "separated by commas: 0.5, 1.0, 1.5, 2.0 [all]");
  AddThreads(options, "the results do");
  options.Value("out", "", "folder for pollux.md, pollux.csv, pollux.png and runs/ (kept) [only the table]");
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  std::vector<std::string> policies;
  for (const Policy& policy : kPolluxPolicies) policies.emplace_back(policy.shown);
  const std::vector<std::size_t> chosen = ChosenParts(options, "policies", policies, "policy");
  const std::vector<std::string> loads(std::begin(pollux::kLoads), std::end(pollux::kLoads));
  const std::vector<std::size_t> chosen_loads = ChosenParts(options, "loads", loads, "load");
  const pollux::Folder folder(options.Text("folder").empty() ? HomeFile("../shared/anchors/pollux")
                                                             : options.Text("folder"));
  const std::string out = options.Text("out"), kept = out.empty() ? "" : out + "/runs";
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce", {"runs"});
  const std::vector<pollux::Run> recorded = folder.Recorded();
  std::vector<Pair> pairs;
  for (const std::size_t p : chosen) {
    for (const pollux::Run& run : recorded) {
      const bool asked = std::any_of(chosen_loads.begin(), chosen_loads.end(),
                                     [&](std::size_t load) { return run.load == loads[load]; });
      if (asked && run.policy == kPolluxPolicies[p].name) pairs.push_back({&kPolluxPolicies[p], &run, {}});
    }
  }
  RunPairs(folder, Threads(options), kept, pairs);
  const ReproductionPage::Cells header = {
      "policy",      "load",     "runs",  "jobs", "times that differ", "restarts that differ",
      "mean JCT, s", "recorded", "ratio", "held", "CPU s/run"};
  Table table(header);
  std::vector<ReproductionPage::Cells> cells;
  std::vector<PolluxRow> rows;
  Json json = Json::array();
  bool held = true;
  for (const std::size_t p : chosen) {
    for (const std::size_t load : chosen_loads) {
      const PolluxRow row = RowOf(kPolluxPolicies[p], loads[load], pairs);
      if (row.runs == 0) continue;
      held = held && row.held;
      rows.push_back(row);
      cells.push_back(PolluxCells(row));
      table.AddRow(cells.back());
      json.push_back(JsonOf(row));
    }
  }
  std::cout << table.ToString();
  WriteJson(options, {{"config", ConfigJson(options)}, {"rows", json}});
  if (!out.empty()) {
    WritePolluxPage(out, MadeBy(options, {"folder", "policies", "loads"}), rows, header, cells);
    const std::string failed = RunPlotScript("reproduce/plot_reproduction.py", {out});
    if (!failed.empty()) std::cout << failed << "\n";
    std::cout << "results in " << out << "\n";
  }
  return held ? 0 : 1;
}

}  // namespace berth
