// What policies trained by gradient are measured on: the two default workloads and row 1's six loads, of the
// evaluation stream, with the rules beside them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/opponents.hpp"

namespace berth {

class GradientTask {
 public:
  GradientTask(MeasuredOn on, const LearnedSettings& settings);

  // Runs `spec` on the first `most` workloads of every condition.
  void Plan(ReproductionRuns& runs, const std::string& spec, std::size_t most = SIZE_MAX) const;
  // [conditions][workloads] mean JCT, s, as LoadGrid::MeanJcts.
  Grid MeanJcts(const ReproductionRuns& runs, const std::string& spec) const;
  std::vector<Grid> MeanJcts(const ReproductionRuns& runs, const std::vector<std::string>& specs) const;

  // How many of `specs` the cluster does not keep up under (KeepsUp), where there are any: "4", and of row
  // 1's loads "3 gangs/h (4)".
  std::string NotCarried(const ReproductionRuns& runs, const std::vector<std::string>& specs) const;

  // Every registered scheduler on the defaults, slow ones on fewer workloads; on row 1 the rules that targets
  // name and the blind ones that come next (the experiment `cluster` has all).
  void PlanRules(ReproductionRuns& runs) const;
  struct Rule {
    std::string spec;
    Grid jcts;
    int compared = 0;  // schedulers that it is the best of
  };
  // The registered one of the least mean JCT on these workloads, of what has run, that knows no more and
  // leaves no job undone; nothing without runs.
  std::optional<Rule> BestRule(const ReproductionRuns& runs, Knowledge knowledge) const;

  std::size_t sampled_workloads() const { return sampled_; }  // that drawing is measured on
  std::size_t runs_of_a_policy(bool drawing) const;           // greedy, and drawing too
  double seconds_of_a_policy(bool drawing) const;             // of one core, for those runs, about
  const LoadGrid& loads() const { return loads_; }            // of kLoads

 private:
  Scenario Sample() const;
  double RunCost(const std::string& spec) const;  // ReproductionRuns::Plan's

  MeasuredOn on_;
  LoadGrid loads_;
  std::vector<std::vector<PlannedWorkload>> cells_;  // [conditions][workloads]
  std::size_t sampled_;
};

}  // namespace berth
