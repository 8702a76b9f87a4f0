// The simulations behind a reproduction: each is planned by name, run once (on several threads), and kept in
// a folder, so that an interrupted reproduction goes on and two experiments that need the same run share it.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"

namespace berth {

// What is scheduled. `name` is unique within a reproduction and stands in tables of runs.
struct PlannedWorkload {
  std::string name;
  Window window;  // measured jobs; the run stops when these are done
  std::function<Scenario()> make;
  bool keep_jct = true;  // PlannedOutcome::jct_s: 20 bytes a job on disk
  // What takes long and is done to the scenario before it is run; kept runs are known by its name instead.
  std::string change_name = {};
  std::function<Scenario(const Scenario&)> change = {};
};

// What is kept of a run. Times in seconds; of the window's completed jobs, formulas in env/sim/metrics.hpp.
struct PlannedOutcome {
  std::string error;     // why the run failed, "" when it did not; nothing else is set then
  bool stopped = false;  // at its limit of CPU time: nothing else is set but cpu_s
  int jobs = 0, unfinished = 0;
  double mean_jct_s = 0, makespan_s = 0, utilization = 0, cost = 0, deadline_miss_rate = 0;
  double mean_jct_low_s = 0, mean_jct_high_s = 0;  // of weight 1, of weight above 1; NaN where there is none
  double p99_jct_s = 0, p99_wait_s = 0, max_wait_s = 0, mean_ftf = 0, max_ftf = 0;
  double hpc_bounded_slowdown = 0;
  double gini_slowdown = 0;       // of the bounded slowdowns: 0 all alike, towards 1 a few jobs bear it all
  double backlog_growth = 0;      // of late work over the window's second half (env/sim/metrics.hpp)
  bool arrivals_ran_out = false;  // the last measured job outlived the last arrival
  std::vector<double> jct_s;      // [window], NaN where unfinished
  // Other at every run; of a stopped one cpu_s is what the limit is of, without making the scenario.
  double wall_s = 0, cpu_s = 0;
};

double ThreadCpuSeconds();  // of the calling thread so far
// Half the relative mean difference (Gini 1912) of values >= 0, not all 0.
double Gini(std::vector<double> values);

// The spec of the scheduler that stands for a policy of the reference by its name there, as the rows of the
// schedulers say (`berth list schedulers`): "max_min_fairness_perf" -> "gavel(objective=max_min)". "" when
// this binary has none.
std::string SpecOfReferencePolicy(const std::string& policy);
// "" when this binary can run the spec.
std::string WhyNotAvailable(const std::string& spec);

struct RunRules {
  double cpu_limit_s = std::numeric_limits<double>::infinity();  // of one run; it is stopped then
  bool any_source = false;  // kept runs of other sources of Berth count too: sources() names them
};

// Thread rule: one thread plans and reads; Execute starts its own.
class ReproductionRuns {
 public:
  // `label` stands before the progress bar.
  ReproductionRuns(std::string label, std::string folder, RunRules rules = {})
      : label_(std::move(label)), folder_(std::move(folder)), rules_(rules) {}

  // An empty or unknown spec is passed over and stands in missing(). `cost` weighs the run in estimates: 1
  // is a job under max-min fairness.
  void Plan(const PlannedWorkload& workload, const std::string& spec, double cost = 1.0);

  // Reads what the folder holds. Call after planning; then to_do() and estimate_s() are of what is left.
  void ReadKept();
  std::size_t planned() const { return runs_.size(); }
  std::size_t to_do() const;
  double estimate_s() const;  // of one core, by the figure in tools/reproduce/README.md
  const std::map<std::string, std::string>& missing() const { return missing_; }  // spec, why
  std::set<std::string> sources() const;  // that made the runs which are done
  double cpu_s() const;                   // of all that are done
  std::string Listing() const;            // a line a run

  // Runs what is left and keeps each result as it comes. False when interrupted.
  bool Execute(int threads);

  // nullptr when the scheduler is not available, or the run not done.
  const PlannedOutcome* Find(const PlannedWorkload& workload, const std::string& spec) const;
  // The same; nullptr also where it failed, was stopped, or left jobs of its window undone.
  const PlannedOutcome* FindWhole(const PlannedWorkload& workload, const std::string& spec) const;

 private:
  struct Run {
    PlannedWorkload workload;
    std::string spec;
    double cost;
    std::string key;     // of its file
    std::string source;  // that made it
    bool done = false;
    PlannedOutcome outcome;
  };
  void RunOne(Run& run, const std::function<bool(double share)>& go_on);

  std::string label_, folder_;
  RunRules rules_;
  std::vector<Run> runs_;
  std::map<std::string, std::size_t> index_;  // by workload name and spec
  std::map<std::string, std::string> missing_;
  std::set<std::string> available_;            // specs that were made once
  std::map<std::string, std::uint64_t> hash_;  // of scenarios, by workload name
};

}  // namespace berth
