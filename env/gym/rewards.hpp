// Rewards as a named sum of terms: "jct", "jct+0.5*slowdown". For additive metrics the undiscounted return of
// a whole episode is minus what the stated metric grew by since its first choice (tests/vec_env_test.cpp);
// maxima and ratios come as a terminal reward.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/gym/running_sums.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

struct Metrics;

// One term as a total: the reward of a step is minus its growth, so the return of an episode is minus the
// metric.
struct RewardInfo {
  const char* name;
  const char* summary;  // the metric whose negative is the return, with unit
  const char* source;   // paper, or the metric's definition
  // Total of the metric so far, exact at simulator.now().
  double (*total)(const Simulator& simulator, const RunningSums& sums);
  // The metric of a finished run's window over its jobs (of deadlines: over those that have one); null where
  // runs have no such metric of which less is better.
  double (*a_job)(const Metrics& metrics);
  bool terminal;      // paid once, when the episode terminates (maxima, ratios)
  bool sums = false;  // it reads `sums`
  // What a job in the system adds to the total a second; null where that is not all that the total is.
  double (*a_second)(const Scenario& scenario, int job) = nullptr;
};
std::span<const RewardInfo> Rewards();

// A parsed sum, followed along one simulation. Thread rule: one thread at a time.
class Reward {
 public:
  explicit Reward(const std::string& spec);  // throws Error with the nearest name
  void Begin(const Simulator& simulator);    // at any moment of it
  void Observe(const Simulator& simulator);  // after every AdvanceToDecision since
  // Weighted total of the additive terms now; the environment pays the difference, negated.
  double Running(const Simulator& simulator) const;
  // Weighted total of the terminal terms at the end of an episode, and whether there are any.
  double Terminal(const Simulator& simulator) const;
  bool PaidAtEnd() const;
  // Of each term its total now, without its weight, in the order of Names(); of a terminal one that of the
  // end where `ended`, else 0.
  void Totals(const Simulator& simulator, bool ended, std::span<double> totals) const;
  std::vector<std::string> Names() const;
  // Weighted sum over the terms that have a_second, and whether there are any.
  double PerSecond(const Scenario& scenario, int job) const;
  bool CostsTime() const;
  double WeightOf(std::string_view term) const;  // sum of the term's weights, 0 where it is not there
  // Weighted sum of the terms of a finished run, a job of its window. Throws Error for a term without a_job.
  double AJob(const Metrics& metrics) const;

 private:
  struct Term {
    double weight;
    const RewardInfo* info;
  };
  std::vector<Term> terms_;
  bool needs_sums_ = false;
  RunningSums sums_;
};

}  // namespace berth
