// berth reproduce pollux: the simulator of the Pollux artifact (Qiao et al., OSDI 2021), recorded and
// measured side by side.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "env/features/goodput/goodput.hpp"
#include "tools/json.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/pollux/recorded.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

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
constexpr Policy kPolicies[] = {
    {"tiresias", "tiresias", "tiresias(thresholds=57600,order=entered,nodes=most_free)", "submitted", 0.0},
    {"optimus", "optimus", "optimus_tuned", "submitted", 0.0},
    {"pollux", "pollux_genetic", "pollux(search=genetic)", "best", 0.05},
    {"pollux", "pollux_ruin_recreate", "pollux", "best", 0.05},
};

struct Measured {
  std::vector<double> seconds;
  std::vector<int> restarts;
  double cpu_seconds = 0.0;
};

Measured RunOf(const Scenario& scenario, const Policy& policy) {
  Measured measured;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(policy.scheduler, AllSchedulers());
  const double begin = ThreadCpuSeconds();
  const Simulator end = FinishedRun(scenario, *scheduler, {0, scenario.num_jobs()});
  measured.cpu_seconds = ThreadCpuSeconds() - begin;
  const auto& goodput = *end.state().features.Find<GoodputState>();
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    measured.seconds.push_back(end.state().completion[U(job)] - scenario.data().jobs.arrival[U(job)]);
    measured.restarts.push_back(goodput.jobs[U(job)].starts - 1);
  }
  return measured;
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
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  std::vector<std::string> policies;
  for (const Policy& policy : kPolicies) policies.emplace_back(policy.shown);
  const std::vector<std::size_t> chosen = ChosenParts(options, "policies", policies, "policy");
  const std::vector<std::string> loads(std::begin(pollux::kLoads), std::end(pollux::kLoads));
  const std::vector<std::size_t> chosen_loads = ChosenParts(options, "loads", loads, "load");
  const pollux::Folder folder(options.Text("folder").empty() ? BERTH_SOURCE_DIR "/../shared/anchors/pollux"
                                                             : options.Text("folder"));
  struct Pair {
    const Policy* policy;
    const pollux::Run* recorded;
    Measured measured;
  };
  const std::vector<pollux::Run> recorded = folder.Recorded();
  std::vector<Pair> pairs;
  for (const std::size_t p : chosen) {
    for (const pollux::Run& run : recorded) {
      const bool asked = std::any_of(chosen_loads.begin(), chosen_loads.end(),
                                     [&](std::size_t load) { return run.load == loads[load]; });
      if (asked && run.policy == kPolicies[p].name) pairs.push_back({&kPolicies[p], &run, {}});
    }
  }
  {
    Progress progress("pollux");
    std::atomic<std::size_t> done = 0;
    ThreadTeam team(Threads(options));
    team.Run(static_cast<int>(pairs.size()), [&](int i) {
      Pair& pair = pairs[U(i)];
      const pollux::Run& run = *pair.recorded;
      pair.measured = RunOf(folder.Workload(run.load, run.workload, pair.policy->batch), *pair.policy);
      progress.Update(static_cast<double>(++done) / static_cast<double>(pairs.size()),
                      Join(run.policy, ", load ", run.load, ", workload ", run.workload));
    });
  }
  Table table({"policy", "load", "runs", "jobs", "times that differ", "restarts that differ", "mean JCT, s",
               "recorded", "ratio", "held", "CPU s/run"});
  Json json = Json::array();
  bool held = true;
  for (const std::size_t p : chosen) {
    const Policy& policy = kPolicies[p];
    for (const std::size_t load : chosen_loads) {
      int runs = 0, jobs = 0, times = 0, restarts = 0;
      double mean = 0.0, their_mean = 0.0, cpu = 0.0;
      for (const Pair& pair : pairs) {
        const pollux::Run& run = *pair.recorded;
        if (pair.policy != &policy || run.load != loads[load]) continue;
        for (std::size_t job = 0; job < run.seconds.size(); ++job) {
          times += std::abs(pair.measured.seconds[job] - run.seconds[job]) > 1e-6;
          restarts += !run.restarts.empty() && pair.measured.restarts[job] != run.restarts[job];
        }
        ++runs, jobs += static_cast<int>(run.seconds.size());
        mean += pollux::Run{"", "", 0, pair.measured.seconds, {}}.Mean();
        their_mean += run.Mean(), cpu += pair.measured.cpu_seconds;
      }
      if (runs == 0) continue;
      const bool exact = policy.tolerance == 0.0;
      const bool row_held =
          exact ? times + restarts == 0 : std::abs(mean / their_mean - 1.0) <= policy.tolerance;
      held = held && row_held;
      const auto if_exact = [exact](int count) { return exact ? Join(count) : std::string("-"); };
      table.AddRow({policy.shown, loads[load], Join(runs), Join(jobs), if_exact(times), if_exact(restarts),
                    Fixed(mean / runs, 1), Fixed(their_mean / runs, 1), Fixed(mean / their_mean, 4),
                    row_held ? "yes" : "NO", Fixed(cpu / runs, 3)});
      json.push_back({{"policy", policy.shown},
                      {"load", loads[load]},
                      {"runs", runs},
                      {"jobs", jobs},
                      {"times_that_differ", times},
                      {"restarts_that_differ", restarts},
                      {"mean_jct_s", mean / runs},
                      {"recorded_mean_jct_s", their_mean / runs},
                      {"held", row_held},
                      {"cpu_s_per_run", cpu / runs}});
    }
  }
  std::cout << table.ToString();
  WriteJson(options, {{"config", ConfigJson(options)}, {"rows", json}});
  return held ? 0 : 1;
}

}  // namespace berth
