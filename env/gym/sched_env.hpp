// One environment: a Simulator, the present decision point, and the reward.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/gym/decision_point.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/learning_signal.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

// Micro-actions fill a plan until `done` advances time. Actions: q * G + g puts visible job q on type g; Q *
// G is done (semantics redecide only). With more commands than `start` (MdpSpec::actions) G are the columns
// and Q the rows of their grid (actions/command_grid.hpp). States in which only `done` is legal are played
// without asking. Thread rule: one thread at a time. Begin allocates, since it makes a scenario; Step does
// only where a list outgrows all episodes before it, and for the devices of more running jobs, or larger
// ones, than the episode had yet (tests/env_allocations_test.cpp).
class SchedEnv {
 public:
  SchedEnv(std::shared_ptr<const ScenarioSource> source, const SchedEnvOptions& options, std::uint32_t index);

  struct Outcome {
    double reward = 0.0, discount = 1.0;
    double signal = 0.0;    // what to learn from in its place
    int new_jobs = 0;       // that arrived during the step
    double new_work = 0.0;  // theirs: GPU s (Scenario::WorkingGpus), each on its fastest type
    bool terminated = false, truncated = false;
  };
  // Draws the workload, warms up, goes to the first choice; draws again where there is none. Throws Error
  // when a hundred draws in a row have no choice.
  void Begin(std::uint32_t episode);
  Outcome Step(int action);  // after an end: Begin the next episode before the next Step

  ObservationLayout layout() const { return layout_; }
  int num_actions() const { return actions_; }
  std::span<const float> observation() const { return point_.observation(); }  // [D] of the present point
  bool moved() const { return moved_; }  // it was made by the last Step or Begin, not before
  std::span<const std::uint8_t> mask() const { return point_.mask().bytes(); }  // [A]
  std::uint32_t episode() const { return episode_; }
  std::span<const std::int32_t> history() const { return history_; }  // actions of this episode
  double MeanJct() const { return done_jobs_ > 0 ? done_jct_ / done_jobs_ : 0.0; }
  double episode_return() const { return return_; }
  const Simulator& simulator() const { return *simulator_; }
  const Reward& reward() const { return pays_->reward; }             // what the present episode is paid by
  std::span<const int> visible() const { return point_.visible(); }  // jobs, by the rows of the observation

 private:
  ClusterView View() const { return simulator_->View(options_.mdp.knowledge); }
  void Draw(std::uint32_t episode);  // makes simulator_, chooses pays_
  void WarmUp(std::uint32_t episode);
  void Apply();        // carries out decision_; it is legal by construction
  bool Advance();      // to the next decision point; false when the episode terminated
  bool Cut();          // truncates where the episode's last job has arrived
  bool OpenPoint();    // false when there is nothing to choose
  bool OfferDone();    // whether `done` is legal
  void RunToChoice();  // closes points without a choice until there is one, or the episode ends
  void Commit(const Placement& placement);
  Outcome Settle(double before_time);

  std::shared_ptr<const ScenarioSource> source_;
  SchedEnvOptions options_;
  std::uint32_t index_, episode_ = 0;
  // What the present episode is paid by, of the process's reward and of those that workloads bring.
  struct Pays {
    Reward reward;
    LearningSignal signal;
  };
  Pays& PaysBy(const std::string& reward);  // "" = the process's
  std::map<std::string, Pays> all_pays_;
  Pays* pays_;
  ObservationLayout layout_;
  int types_ = 0, actions_ = 0;

  std::optional<Simulator> simulator_;
  std::unique_ptr<Scheduler> warmup_;
  DecisionPoint point_;
  Decision decision_;
  std::vector<std::int32_t> history_;
  bool terminated_ = false, truncated_ = false, moved_ = true;
  int last_arrival_ = 0;  // truncate when this many have arrived
  bool endless_ = true;   // more jobs would come: the episode is cut, it does not drain
  double return_ = 0.0, done_jct_ = 0.0;
  double paid_ = 0.0;             // running total of the reward at the last step
  int done_jobs_ = 0, seen_ = 0;  // jobs that had arrived at the last step
};

}  // namespace berth
