// Scores of actions into a plan, for whoever has scores: a frozen network, a search over weights, a rule.
//
//   order.Rank(view, point, scores, /*noise=*/nullptr);
//   order.Fill(view, point, Reserve::kNone);              // redecide: the whole plan
//   point.Choose(view, point.PlacementOf(order.best()));  // commit: the one that starts next
//
// The observation does not change while a plan is filled, so walking the actions of one scoring from the best
// down is the policy's own sequence of micro-actions; with noise it is a draw from its distribution, since
// adding Gumbel noise to logits and taking the best again and again samples without replacement (Vieira 2014;
// Kool et al., ICML 2019). What only becomes legal as the plan fills lost to nobody before: its noise is
// drawn then, below the last score that was taken (Maddison, Tarlow & Minka, NeurIPS 2014, truncated
// Gumbels).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/base/rng.hpp"
#include "env/gym/decision_point.hpp"
#include "env/predict/releases.hpp"

namespace berth {

// The best action that the mask allows, of equal ones the first; -1 = none. noise: Gumbel's is added to each.
int BestLegal(std::span<const std::uint8_t> mask, std::span<const float> scores, Stream* noise);
// The same of an open point (DecisionPoint::OpenMask), for who does not know whether jobs are still to come:
// `done` is legal once something runs, or where nothing can be started.
int BestLegal(const ClusterView& view, DecisionPoint& point, std::span<const float> scores, Stream* noise);

// Thread rule: one thread at a time. Allocates where a list outgrows all before it.
class ScoreOrder {
 public:
  // The actions of an observed point that any plan could take, `done` included: higher scores first, of equal
  // ones the first action. `scores` [Q G (+ 1)]. noise: Gumbel's is added to each. Both must last until the
  // order is used up.
  void Rank(const ClusterView& view, const DecisionPoint& point, std::span<const float> scores,
            Stream* noise);
  int best();  // the action. REQUIRES: there is one
  // Puts placements in that order while they fit and `done` has not come; uses the order up.
  void Fill(const ClusterView& view, DecisionPoint& point, Reserve reserve);

 private:
  // Less is chosen later.
  struct Ranked {
    float score;
    int action;
    bool operator<(const Ranked& other) const {
      return score != other.score ? score < other.score : action > other.action;
    }
  };
  using Heap = std::vector<Ranked>;  // the best in front
  struct Reservation {
    bool held = false;
    Vacancy vacancy{};
  };
  Ranked Draw(int action);
  // In its order, now that it is legal: below the score that was `taken` last, where there is noise.
  void Again(int action, float taken, Heap& heap);
  void RankCommands(const DecisionPoint& point);
  void FillCommands(const ClusterView& view, DecisionPoint& point);
  Heap* Best();  // the heap with the best action left; null when none is
  void HoldBack(const ClusterView& view, const Plan& plan, const Placement& placement, Reserve reserve,
                Heap& others);
  bool Passes(const ClusterView& view, const Placement& placement);

  std::span<const float> scores_;
  Stream* noise_ = nullptr;
  std::vector<Heap> ranked_;             // [G + 1] actions of each type, and done; of a grid [1] all
  std::vector<std::vector<int>> later_;  // of a grid: actions that are not legal yet
  Releases releases_;
  std::vector<Reservation> reserved_;  // [G]
};

}  // namespace berth
