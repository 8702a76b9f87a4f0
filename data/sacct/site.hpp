// What is known of a site beside its jobs: its nodes and partitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/slurm_conf.hpp"

namespace berth {

struct Site {
  ClusterSpec cluster;
  std::vector<SlurmNode> nodes;       // empty: no slurm.conf, or --cluster stands in its place
  int future_nodes = 0;               // State=FUTURE: not in the cluster
  std::vector<std::string> asked_as;  // [G] the type's name in requests
  std::map<std::string, std::uint64_t> of_partition;  // bits of types
};

// The file of that name in the folder of `path`, "" = there is none.
std::string Beside(const std::string& path, const char* name);

// Of the slurm.conf beside `path`, unless the settings name a cluster. Throws Error where there is neither.
Site SiteOf(const std::string& path, const ScenarioSettings& settings);

}  // namespace berth
