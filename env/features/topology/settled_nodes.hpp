// The devices that jobs of a complete plan take: of a decision that names none yet, or some.
//
//   settled.Begin(view, plan, decision);                        // who stays, what is withheld or named
//   if (ChooseNodes(way, settled.free(), type, gang, settled.DemandOf(job), shares)) settled.Name(...);
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "env/features/topology/placement.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Thread rule: one thread at a time. Valid as long as the view and the plan do not change.
class SettledNodes {
 public:
  // Needs the feature topology. Devices of who leaves them are idle, those that the plan withholds or the
  // decision names are not.
  void Begin(const ClusterView& view, const Plan& plan, const Decision& decision);
  const FreeNodes& free() const { return *free_; }
  const PlacementState& state() const { return *state_; }
  const NodeDemand& DemandOf(int job) const { return (*state_->demand)[static_cast<std::size_t>(job)]; }
  // The decision's command that names the job; -1 = it stays, or waits on.
  int CommandOf(int job) const { return command_of_[static_cast<std::size_t>(job)]; }

  // Of a job that holds devices: they are idle from now on, or its own again.
  void Leave(const ClusterView& view, int job);
  void Stay(const ClusterView& view, int job);
  // The lowest idle devices of the chosen nodes, in its command, or of a job that has none in one to move.
  void Name(const ClusterView& view, int job, std::span<const NodeShare> shares, Decision& decision);

 private:
  const PlacementState* state_ = nullptr;
  std::optional<FreeNodes> free_;
  std::vector<int> command_of_;  // [J]
  std::vector<char> idle_;       // [D] for jobs without devices of their own
  std::vector<int> devices_;     // scratch
};

}  // namespace berth
