// What a search measures schedulers by, in trial runs: the workloads of a generation, the same for all of
// them, and what of a run counts. RewardTrials: a reward's terms over a window of jobs, others competing
// meanwhile; BatchTrials (batch_trials.hpp): slowdowns and waits on pieces of a log. Thread rule: const, one
// call at a time; runs take `threads`.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/search/search.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "tools/tune/tunable.hpp"

namespace berth {

struct TrialSettings {
  std::string reference;  // scheduler spec
  std::shared_ptr<const ScenarioSource> source;
  Window pieces{0, -1};            // a fixed source: its jobs A:B that workloads are pieces of
  std::optional<Window> held_out;  // those of validation and choice; nothing: `pieces`, jobs that were seen
  int workloads = 8;               // a generation
  int choices = 0;                 // workloads to choose the answer on
  int jobs = 0;                    // a workload; 0 = the source's own number
  Window window;                   // measured
  std::uint64_t seed = 0;
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;  // runs of searches end, their costs say nothing
};

// Error: a candidate refused its numbers.
using MakeCandidate = std::function<std::unique_ptr<Scheduler>()>;
inline constexpr int kValidation = -2;  // in place of a generation, as search::kChoice

class Trials {
 public:
  explicit Trials(TrialSettings settings) : settings_(std::move(settings)) {}
  virtual ~Trials() = default;

  // For search::Objective. Throws Error where the reference does not finish its jobs, or cannot run, and
  // where all runs of the first generation cost 0 and will go on to.
  search::Costs Costs(const std::vector<MakeCandidate>& candidates, int generation) const;
  // Of each scheduler on `count` workloads that no search draws, of a fixed source as many pieces as there
  // are: [schedulers][count or fewer]; nothing where `interrupted` became true meanwhile.
  std::vector<std::vector<Metrics>> Validate(const std::vector<MakeCandidate>& schedulers, int count,
                                             const std::atomic<bool>* interrupted = nullptr) const;

  // Of one run; NaN where jobs of the window were not done.
  virtual double Cost(const Metrics& metrics) const = 0;
  // May a cost be 0, such as missed deadlines, or the price of GPUs that have none? Then there are
  // differences of costs, and no ratios.
  virtual bool MayBeNone() const { return false; }
  // The workloads of a generation, or of what stands in its place: there each that there is at most once.
  virtual std::vector<Scenario> Draw(int generation, int count) const = 0;

  const TrialSettings& settings() const { return settings_; }

 protected:
  // Of runs [candidates][workloads] and the reference's on the same workloads.
  virtual search::Costs Weigh(const std::vector<std::vector<Metrics>>& runs,
                              const std::vector<Metrics>& reference) const;
  // Throws Error where a search's first generation shows that it has nothing to go by.
  virtual void CheckFirst(const search::Costs& /*costs*/) const {}

 private:
  struct Plays {
    std::vector<std::vector<Metrics>> runs;  // unfinished > 0 where the scheduler could not be made
    std::vector<std::int64_t> decisions;     // [schedulers]
  };
  Plays Play(const std::vector<MakeCandidate>& schedulers, int generation, int count,
             const std::atomic<bool>* interrupted) const;

  TrialSettings settings_;
};

// What a search minimises: costs of the candidates that points make. Both must outlive it.
search::Objective ObjectiveOf(const Trials& trials, const Tunable& candidates);

class RewardTrials final : public Trials {
 public:
  // `reward`: env/gym/rewards.hpp; of jct the cost is the mean JCT, s.
  RewardTrials(TrialSettings settings, std::string reward);
  double Cost(const Metrics& metrics) const override;
  bool MayBeNone() const override { return may_be_none_; }
  std::vector<Scenario> Draw(int generation, int count) const override;

 protected:
  void CheckFirst(const search::Costs& costs) const override;

 private:
  std::string reward_;
  bool may_be_none_;
};

}  // namespace berth
