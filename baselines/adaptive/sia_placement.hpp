// Which nodes the jobs of one round get, as in the published simulator of Sia (siasosp23/artifacts,
// sia-simulator/sia.py: alloc_to_placement_fast).
#pragma once

#include <span>
#include <vector>

namespace berth::sia {

struct PlacementJob {
  int type = -1;  // -1, or no GPUs: no nodes
  int gpus = 0;
};

struct NodeGpus {
  int node = 0;  // index among the nodes of the type
  int gpus = 0;

  bool operator==(const NodeGpus&) const = default;
};

// nodes [types][nodes of the type]: GPUs free on each, the whole of a node being what the emptiest has.
// Returns [jobs] the nodes of each in the order taken. Type by type, jobs of more GPUs first (equal ones in
// their order); a pointer runs over the nodes and on from job to job, beginning at node 0: while the job
// needs whole nodes, free ones from the pointer on, once around; then whatever is free from there. Where jobs
// were before does not matter. Throws Error where a type is unknown or has too few GPUs for its jobs.
std::vector<std::vector<NodeGpus>> Place(std::span<const PlacementJob> jobs,
                                         std::vector<std::vector<int>> nodes);

}  // namespace berth::sia
