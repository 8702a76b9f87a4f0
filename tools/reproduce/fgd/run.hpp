// One run of the published allocation experiment: pods in random order and drawn again until 130% of the
// GPUs are asked for, placed one by one, those that fit nowhere dropped. Of nodes that score the same the one
// whose name sorts first is taken, and names are dealt anew for every run: the authors' code prefixes them
// with a random permutation (simulator.go, syncClusterResourceList), which traces/PROTOCOL.md §6 does not
// mention and which moves clustering and packing by 0.7 points.
#pragma once

#include <vector>

#include "tools/reproduce/fgd/policies.hpp"

namespace berth::fgd {

inline constexpr double kMostDemand = 1.3;  // of capacity
inline constexpr int kPercents = 131;       // 0 to 130

struct Workload {
  std::vector<Node> nodes;  // empty, in the order of their names
  std::vector<Pod> pods;    // in the order of their names
  double CapacityMilli() const;
};
Workload WorkloadOf(const OpenbNodes& nodes, const std::vector<OpenbPod>& pods);

// All pods shuffled; then drawn with replacement until the next would exceed 130% of capacity, or, where
// there are too many, removed at random until they are within it.
std::vector<Pod> PodSequence(const Workload& workload, std::uint64_t seed);

struct RunOutcome {
  std::vector<double>
      allocated;  // [kPercents] % of capacity by % of capacity arrived, NaN = no pod fell there
  std::vector<double> fragmented;  // [kPercents] likewise, fragmentation in % of capacity
  int pods = 0, failed = 0;
};
// `keep`: scores are kept until their node changes; the outcome is the same without.
RunOutcome RunPolicy(const Workload& workload, const Policy& policy, std::uint64_t seed, bool keep = true);

}  // namespace berth::fgd
