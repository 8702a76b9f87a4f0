// On which GPUs a job is started that a scheduler put on a GPU type.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tools/controller/live_cluster.hpp"

namespace berth {

// Free GPUs of the type for the job, in the shape that it asks for (so many on each of so many nodes, or as
// they come on no fewer and no more nodes than it says), on nodes with the CPUs it needs: those that the
// scheduler `wanted`, where they are such and awake, else of the nodes that have room the fullest, of alike
// ones those that are awake; as they come: on as few nodes as there can be, and where it is no single one, on
// none that sleeps if it can be. Nodes on which a start of it was refused come last. Nothing where there are
// none. `idle_cpus` [nodes] is lowered by what it takes.
std::optional<std::vector<int>> ChooseGpus(const LiveCluster& live, int job, int type,
                                           std::span<const int> wanted, std::vector<int>& idle_cpus);

// What ChooseGpus takes of `idle_cpus` for the GPUs that a job holds, given back.
void FreeCpus(const LiveCluster& live, int job, std::vector<int>& idle_cpus);

// The names of the nodes that the GPUs are on, each once.
std::vector<std::string> NodesOf(const LiveCluster& live, std::span<const int> devices);

}  // namespace berth
