// The configurations of a cluster, and how jobs get to the ones that were chosen for them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "baselines/adaptive/sia_program.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth::sia {

// Thread rule: one thread at a time.
class Configurations {
 public:
  // Type by type 1, 2, 4, ... GPUs of a node, then 1, 2, ... whole nodes (Sia, SOSP 2023, sec. 3.2).
  void Reset(const ClusterView& view);
  const std::vector<Configuration>& list() const { return list_; }
  // For people: "t4: 1, 2 GPUs or whole nodes of 4".
  std::string ToString(const ClusterView& view) const;
  // Index; -1 = it does not run, or on another number of GPUs, or has to leave some of them.
  int Held(const ClusterView& view, int job) const;

  // The decision that gives each of `jobs` the configuration `chosen` (-1 = none). Where moves to other nodes
  // cost nothing all jobs are placed anew, as in the artifact; else who keeps its configuration stays.
  void Emit(const ClusterView& view, std::span<const int> jobs, std::span<const int> chosen,
            Decision& decision) const;

 private:
  std::vector<std::vector<std::vector<int>>> nodes_;  // [types][nodes of the type] devices
  std::vector<Configuration> list_;
};

}  // namespace berth::sia
