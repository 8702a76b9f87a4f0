// A decision point: who may be placed, what is shown of them, what is legal, and the plan that they fill. The
// environment that learners train in, frozen policies, the C API, the Python package and `berth serve` all go
// through it, so that training and use cannot drift apart.
//
//   DecisionPoint point(mdp);
//   point.Begin(view);                                  // an episode begins
//   if (!point.PassesOver(view)) {                      // else everything stays as it is
//     point.Start(view);                                // an empty plan; commit: with the chosen job
//     if (point.Gather(view)) point.Observe(view, q);   // candidates, rows, observation
//     ...score point.observation(), point.Put actions...
//     point.Close(view, decision);                      // the commands that lead there
//   }
//
// Semantics `redecide`: one observation a point, and actions until `done`. Semantics `commit`: `Choose` one
// action; while it fits, Gather and Observe again with the room that it leaves; once it does not, it blocks,
// and the next points Start with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "env/gym/action_mask.hpp"
#include "env/gym/actions/command_grid.hpp"
#include "env/gym/commit_backfill.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// What an action does where jobs are only put on types. Actions are counted row * columns + column, then
// `done` where there is one; nothing else knows how.
struct Placement {
  int row;  // of the visible
  int job, type;
};

// The layout of a process's observations of a cluster, with MdpSpec::visible jobs: Q rows and G columns, so
// that there are Q G actions, and `done` under semantics redecide. Throws Error: commands that the cluster
// lacks.
ObservationLayout LayoutOf(const MdpSpec& mdp, const Scenario& scenario);

// Thread rule: one thread at a time. Allocates in Begin, and where a list outgrows all before it.
class DecisionPoint {
 public:
  explicit DecisionPoint(const MdpSpec& mdp);  // throws Error: a process that an encoder is not for
  const MdpSpec& mdp() const { return mdp_; }
  const EncoderInfo& encoder() const { return encoder_.info(); }
  bool commits() const { return mdp_.semantics == Semantics::kCommit; }

  void Begin(const ClusterView& view);
  // True where the process leaves everything as it is: nobody to place, or nothing arrived, completed or
  // changed in the cluster (MdpSpec::on_change) and the last decision did not ask for this one.
  bool PassesOver(const ClusterView& view) const;
  void Start(const ClusterView& view);
  // The candidates: active jobs when preemptive, waiting ones otherwise, without those that the plan has
  // started; false where there are none.
  bool Gather(const ClusterView& view);
  // Who of them has one of the `q` rows, and the observation. q = 0: a row for each. Running candidates
  // without a row keep their GPUs.
  void Observe(const ClusterView& view, int q);

  std::span<const int> candidates() const { return candidates_; }
  std::span<const int> visible() const { return visible_; }
  // With `q` rows for jobs. Where the process has more commands than `start`: after Begin.
  ObservationLayout Layout(int q, int types) const;
  // The commands, where there are more than `start`; null = a job on a type is all.
  const CommandGrid* grid() const { return grid_.get(); }
  const ObservationLayout& layout() const { return layout_; }  // of the last Observe
  std::span<const float> observation() const { return observation_; }
  const Plan& plan() const { return plan_; }

  int done() const { return layout_.q * layout_.g; }  // the action; redecide only
  Placement PlacementOf(int action) const {
    const int row = action / layout_.g;
    return {row, visible_[static_cast<std::size_t>(row)], action % layout_.g};
  }
  // Legal or not, kept true while the plan fills; for who needs all of it, after every Observe. Under
  // `commit` a job may be chosen wherever it can run.
  void OpenMask(const ClusterView& view);
  const ActionMask& mask() const { return mask_; }

  // redecide: into the plan. REQUIRES: it is legal, and not `done`.
  void Put(const ClusterView& view, int action) {
    if (grid_ != nullptr) return PutCommand(view, action);
    const Placement placement = PlacementOf(action);
    plan_.Put(view, placement.job, placement.type);
    if (masked_) mask_.Put(placement.row, placement.type, plan_.room(placement.type));
  }
  // An event will follow by itself: something runs on or is placed.
  bool Runs(const ClusterView& view) const {
    return !plan_.placed().empty() || (!plan_.preemptive() && !view.running().empty());
  }
  // Whether `done` is legal, and into the mask with it: not while time would stand still, nor, in a
  // work-conserving process, while any job fits anywhere.
  bool OfferDone(bool event_follows) {
    if (commits()) return false;
    const bool legal = event_follows && !(mdp_.work_conserving && mask_.starts() > 0);
    mask_.SetDone(legal);
    return legal;
  }

  // commit: chosen, and placed where it fits; else it blocks.
  void Choose(const ClusterView& view, const Placement& placement);
  bool blocked() const { return chosen_.job >= 0; }

  // Writes the commands of the plan; behind a blocked job with whom the published backfill starts.
  void Close(const ClusterView& view, Decision& decision);

 private:
  void SortShortest(const ClusterView& view);
  void TryChosen(const ClusterView& view);
  void PutCommand(const ClusterView& view, int action);

  MdpSpec mdp_;
  Encoder encoder_;
  std::unique_ptr<CommandGrid> grid_;
  std::vector<float> encoded_;  // the encoder's own, which the grid is made of
  std::vector<int> candidates_, visible_, room_;
  std::vector<std::pair<double, int>> keyed_;
  ObservationLayout layout_;
  std::vector<float> observation_;
  Plan plan_;
  ActionMask mask_;
  bool masked_ = false;
  Placement chosen_{-1, -1, -1};  // who blocks; job -1: nobody
  CommitBackfill backfill_;
};

}  // namespace berth
