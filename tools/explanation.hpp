// What a policy considered at one moment, what it chose, and what of its observation that hung on: what
// `berth explain` shows and the Python package's Policy.explain gives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/sim/scheduler.hpp"
#include "policies/policy_scheduler.hpp"
#include "tools/json.hpp"

namespace berth {

struct ExplainedCommand {
  std::string text;
  double score = 0.0;
  int chosen = 0;  // 1 = first; 0 = not
};
struct ExplainedBlock {
  std::string block;
  double change = 0.0;  // of the first choice's score without it
  std::string first;    // what would be chosen first
};

struct Explanation {
  double time_s = 0.0;  // the moment
  int waiting = 0, running = 0;
  std::string decision;                    // in words
  std::vector<ExplainedCommand> commands;  // that were legal as the point began or were chosen, best first
  std::vector<ExplainedBlock> blocks;      // none where nothing was chosen
};

// Throws Error that begins with `where` and `file`: a policy of a flat environment, of semantics commit or
// one that reserves.
void CheckExplained(const PolicyBundle& bundle, const std::string& where, const std::string& file);

// At `view`, where there is anybody whom the policy could place. `state`: of the network's memory
// (PolicyScheduler::StateAt). REQUIRES: CheckExplained passed, and the view grants what the policy knows.
Explanation Explain(const PolicyBundle& bundle, const ClusterView& view, std::span<const float> state);

// --until-then and --at.
void AddMomentOptions(Options& options);

// The run that the moment is one of: --until-then, else the policy, decides until the policy's first decision
// at or after --at at which it decides anything, and the policy from then on.
class RunToMoment final : public Scheduler {
 public:
  // Throws Error naming --until-then where that is no scheduler, or none for the scenario.
  RunToMoment(const Options& options, const Scenario& scenario, const PolicyBundle& bundle,
              const std::string& file);

  Knowledge knowledge() const override;  // the most that either uses
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

  bool Reached(const ClusterView& view);  // is this the moment, or was it before? Then the policy decides
  const PolicyScheduler& policy() const { return policy_; }
  // Whose decisions those before the moment are: "--until-then: scheduler 'fcfs'", or the policy's file.
  const std::string& whose() const { return whose_; }

 private:
  PolicyScheduler policy_;
  std::unique_ptr<Scheduler> before_;  // null = the policy
  std::string whose_;
  double at_s_;
  bool reached_ = false;
};

// The decision at the moment. Throws Error naming the option, or `where` where it is the policy.
Explanation ExplainMoment(const Options& options, const Scenario& scenario, const PolicyBundle& bundle,
                          const std::string& where, const std::string& file);

// The keys of `berth explain --json` (tools/FORMATS.md) but for config.
Json ExplanationJson(const Explanation& explanation, const std::string& file);

}  // namespace berth
