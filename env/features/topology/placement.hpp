// Where jobs are and what the nodes have left: the state of the feature topology (settings in topology.hpp,
// mechanics in placement.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/features/topology/cluster_layout.hpp"
#include "env/features/topology/communication.hpp"
#include "env/features/topology/placement_rules.hpp"
#include "env/features/topology/topology.hpp"
#include "env/sim/feature.hpp"

namespace berth {

// Anybody may see it.
class PlacementState final : public StateOf<PlacementState, TopologySettings> {
 public:
  PlacementState(const TopologySettings& settings, const Scenario& scenario);  // all idle, nobody waits

  std::shared_ptr<const ClusterLayout> layout;
  std::shared_ptr<const std::vector<NodeDemand>> demand;  // [J] of each member
  FreeNodes free;                    // devices in service that no job holds, and the rest
  std::int64_t unplaced_orders = 0;  // starts and moves that found devices and no node with the resources
  std::int64_t gang_starts = 0;      // of more than one device
  std::int64_t spread_starts = 0;    // of those, on more nodes than they need

  // Fragmentation: of a waiting gang, the share of the idle devices of the types it can run on that are of no
  // use to it, because their nodes have too few to hold it consolidated (a gang larger than a node: whole
  // nodes); the mean over waiting gangs, weighted by the idle devices. 0 while nobody waits or nothing is
  // idle. Measured after each decision and held to the next. Like FGD's measure (Weng et al., ATC 2023, §3)
  // it asks who waits for what; unlike it, it is of whole devices and leaves cores and memory aside.
  double fragmentation = 0.0;
  double fragmentation_seconds = 0.0;  // its integral up to `measured_at`
  double measured_at = 0.0;            // s

  double MeanFragmentation(double now) const {
    return now > 0.0 ? (fragmentation_seconds + fragmentation * (now - measured_at)) / now : 0.0;
  }
  Extent ExtentOf(std::span<const int> devices) const {
    return {layout->NodesOf(devices), layout->RacksOf(devices)};
  }
  bool Consolidated(int type, std::span<const int> devices) const {
    return layout->NodesOf(devices) <= layout->FewestNodes(type, static_cast<int>(devices.size()));
  }
  // Would a start now be consolidated?
  bool CanConsolidate(int job, int type, int width) const {
    return berth::CanConsolidate(free, type, width, (*demand)[static_cast<std::size_t>(job)]);
  }

  void OnReported(SimCore& core) override;
  void OnDecided(SimCore& core) override;
  // Orders that name devices, against the resources of the devices' nodes.
  ApplyResult Validate(const SimCore& core, const Decision& decision) const override;
  Placing Choose(const SimCore& core, const Command& command, int width, std::vector<int>& devices) override;
  void OnPlaced(SimCore& core, int job, bool beside) override;
  void OnUnplaced(SimCore&, int) override { ++unplaced_orders; }
  void BeforeRelease(SimCore& core, int job) override;
  void OnIdle(SimCore& core, int device, bool idle) override;
  double SpreadFactor(const Scenario& scenario, const SimState& state, int job, double rate) const override;
  bool MayTake(int job, int device) const override;
  std::string Violation(const InvariantInput& input) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;

 private:
  void Count(const SimCore& core);  // whoever changed since the last time

  const TopologySettings* settings_;
  // Who waits, kept for `fragmentation`.
  std::vector<int> waiting_;   // [G, S] waiting jobs that can run on the type, by size of gang
  std::vector<char> counted_;  // [J] in `waiting_`
};

BlockInfo TopologyBlock();  // what observations show of it
// What policies may do with it.
ActionInfo GatherAction();
ActionInfo PlaceAction();

}  // namespace berth
