// What is idle at a decision point, node by node, for schedulers that say on which devices a gang goes.
//
//   planner.Begin(view);
//   if (planner.CanConsolidate(job, type) && planner.Choose(view, job, type, PlacementRule::kConsolidate))
//     decision.Start(job, type, planner.Take());
//
// With the feature topology it knows the nodes' cores and memory and how much slower a spread gang is;
// without it nodes are gpus_per_node devices and nothing is slower. Reused between calls.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "env/features/topology/communication.hpp"
#include "env/features/topology/placement_rules.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

class NodePlanner {
 public:
  void Reset(const ClusterView& view);
  void Begin(const ClusterView& view);  // all that is idle now

  bool CanConsolidate(int job, int type, int width) const {
    return berth::CanConsolidate(*free_, type, width, DemandOf(job));
  }
  // Devices for the job's gang among what is left; false where there are not enough. O(nodes) at worst.
  bool Choose(const ClusterView& view, int job, int type, PlacementRule rule);
  std::span<const int> chosen() const { return chosen_; }
  double chosen_factor() const { return factor_; }  // of the consolidated rate, on `chosen`
  void Take();                                      // `chosen` is no longer left

  // As if a running job had left its devices; only where all devices of its type are in service.
  void Release(const ClusterView& view, int job);
  void TakeBack(const ClusterView& view, int job);  // no, it keeps them

 private:
  const NodeDemand& DemandOf(int job) const;
  bool Left(const ClusterView& view, int device) const;
  void Return(const ClusterView& view, int job, int members);

  std::shared_ptr<const ClusterLayout> layout_;
  std::shared_ptr<const std::vector<NodeDemand>> demand_;  // null = nobody demands anything
  std::unique_ptr<FreeNodes> free_;
  std::vector<NodeShare> shares_;
  std::vector<int> chosen_;
  int job_ = -1;
  double factor_ = 1.0;
  std::vector<char> taken_, released_;  // [D] of this decision
};

}  // namespace berth
