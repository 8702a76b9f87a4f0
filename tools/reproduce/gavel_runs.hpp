// The simulations behind a reproduction: each is planned by name, run once (on several threads), and kept in
// a folder, so that an interrupted reproduction goes on and two experiments that need the same run share it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "env/metrics.hpp"

namespace berth {

// What is scheduled. `name` is unique within a reproduction and stands in tables of runs.
struct GavelWorkload {
  std::string name;
  Window window;  // measured jobs; the run stops when these are done
  std::function<Scenario()> make;
};

// What is kept of a run. Times in seconds.
struct GavelOutcome {
  std::string error;  // why the run failed, "" when it did not; nothing else is set then
  int jobs = 0, unfinished = 0;
  double mean_jct_s = 0, makespan_s = 0, utilization = 0, cost = 0, deadline_miss_rate = 0;
  double mean_jct_low_s = 0, mean_jct_high_s = 0;  // of weight 1, of weight above 1; NaN where there is none
  bool arrivals_ran_out = false;                   // the last measured job outlived the last arrival
  std::vector<double> jct_s;                       // [window], NaN where unfinished
  double wall_s = 0;                               // not part of any page
};

// The spec of the scheduler that stands for a policy of the reference by its name there, as the rows of the
// schedulers say (`berth list schedulers`): "max_min_fairness_perf" -> "gavel(objective=max_min)". "" when
// this binary has none.
std::string SpecOfReferencePolicy(const std::string& policy);
// "" when this binary can run the spec.
std::string WhyNotAvailable(const std::string& spec);

// Thread rule: one thread plans and reads; Execute starts its own.
class GavelRuns {
 public:
  explicit GavelRuns(std::string folder) : folder_(std::move(folder)) {}

  // An empty or unknown spec is passed over and stands in missing(). `cost` weighs the run in estimates: 1
  // is a job under max-min fairness.
  void Plan(const GavelWorkload& workload, const std::string& spec, double cost = 1.0);

  // Reads what the folder holds. Call after planning; then to_do() and estimate_s() are of what is left.
  void ReadKept();
  std::size_t planned() const { return runs_.size(); }
  std::size_t to_do() const;
  double estimate_s() const;  // of one core, from figures of the machine in tools/README.md
  const std::map<std::string, std::string>& missing() const { return missing_; }  // spec, why
  std::string Listing() const;                                                    // a line a run

  // Runs what is left and keeps each result as it comes. False when interrupted.
  bool Execute(int threads);

  // nullptr when the scheduler is not available.
  const GavelOutcome* Find(const GavelWorkload& workload, const std::string& spec) const;

 private:
  struct Run {
    GavelWorkload workload;
    std::string spec;
    double cost;
    std::string key;  // of its file
    bool done = false;
    GavelOutcome outcome;
  };
  std::string folder_;
  std::vector<Run> runs_;
  std::map<std::string, std::size_t> index_;  // by workload name and spec
  std::map<std::string, std::string> missing_;
  std::map<std::string, std::uint64_t> hash_;  // of scenarios, by workload name
};

}  // namespace berth
