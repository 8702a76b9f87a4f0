// GPUs sit in nodes and nodes in racks: gangs that are spread run slower, and nodes have CPU cores and memory
// too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"
#include "env/sim/node_limits.hpp"

namespace berth {

// How the cluster places what a scheduler starts without naming devices.
enum class PlacementRule {
  kLowest,       // the lowest-numbered idle devices
  kBestFit,      // the fullest node that has room for the gang; where none has, fullest first
  kConsolidate,  // as few nodes as possible, in one rack if possible; then best fit
  kSpread,       // member by member on the emptiest node
};

// Nodes are gpus_per_node devices of one type (`--cluster v100=36/4`); racks are nodes_per_rack consecutive
// nodes. A list has one entry for all GPU types or one for each, in the cluster's order.
struct TopologySettings final : SettingsOf<TopologySettings>, LimitsOfNodes {
  int nodes_per_rack = 0;
  std::string placement = "lowest";
  std::string slowdown = "auto";
  double node_gb_s = 12.0;     // PCI Express 3.0 x16, about what NCCL gets of 15.75
  double network_gb_s = 1.25;  // 10 Gbit/s Ethernet
  double rack_gb_s = 1.25;     // no oversubscription
  double gradient_gb = 0.1;    // ResNet-50: 25.6 M parameters of 4 bytes
  std::vector<double> cpus_per_node, node_memory_gb, further_per_node;
  double cpus_per_gpu = 0.0, memory_gb_per_gpu = 0.0;

  PlacementRule Rule() const;  // of `placement`, once checked

  static constexpr const char* kName = "topology";
  static constexpr const char* kHelp =
      "GPUs sit in nodes and racks; gangs that are spread run slower; nodes have CPU cores and memory";
  static std::span<const Field<TopologySettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;  // placement.cpp
  // A list of the wrong length limits nothing here.
  int LargestGang(const ScenarioData& scenario, int job, int type) const override;
  const char* WhyTooLarge() const override {
    return "demands more CPU cores, memory or further resource (feature topology) than the nodes of every "
           "GPU "
           "type that runs it have";
  }
  int NodesPerRack() const override { return nodes_per_rack; }
  double NetworkGbPerS() const override { return network_gb_s; }
  bool LimitsNodes() const override {
    return !cpus_per_node.empty() || !node_memory_gb.empty() || !further_per_node.empty();
  }
};

}  // namespace berth
