// One run of the published allocation experiment: pods in random order and drawn again until 130% of the
// GPUs are asked for, placed one by one, those that fit nowhere dropped. Of nodes that score the same the one
// whose name sorts first is taken, and names are dealt anew for every run: the authors' code prefixes them
// with a random permutation (simulator.go, syncClusterResourceList), which moves clustering and packing by
// 0.7 points.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/rng.hpp"
#include "tools/reproduce/fgd/allocation.hpp"

namespace berth::fgd {

// The six placement policies of the published allocation experiment, as their code has them
// (hkust-adsl/kubernetes-scheduler-simulator @ 8f3d6417, pkg/simulator/plugin): each gives a node that fits a
// whole-numbered score from 0 to 100, the highest wins (ties: run.hpp). The score of a
// pod on a node depends on nothing else, so it may be kept until the node changes.
struct Choice {
  int score = 0;
  int gpu = -1;  // of which a share is taken
};

struct Policy {
  const char* name;       // as its authors print it
  const char* published;  // in the published tables
  // Null: a node that fits, and a GPU of it that fits, at random.
  Choice (*choose)(const Node& node, const Pod& pod, const Fragmentation& fragmentation);
};
std::span<const Policy> Policies();

// For shares: the fullest GPU that has room, the first of equals; a GPU with room at random.
int BestFitGpu(const Node& node, const Pod& pod);
int RandomGpu(const Node& node, const Pod& pod, Stream& random);

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

// The published outcome of the allocation experiment, run by run (expected_results of the authors' artefact).
struct PublishedRun {
  std::string workload;            // "openb_pod_list_default"
  std::string policy;              // Policy::published
  std::vector<double> by_percent;  // [kPercents] % of capacity by % of capacity arrived; NaN = none
};
// analysis_allo_discrete.csv, analysis_frag_discrete.csv; plain or gzip. Throws Error.
std::vector<PublishedRun> ReadPublishedRuns(const std::string& path);

// Of several runs at one percentage.
struct Spread {
  double mean = 0.0, sd = 0.0, low = 0.0, high = 0.0;
  int runs = 0;  // 0: the rest says nothing
  bool Holds(double value) const { return runs > 0 && value >= low && value <= high; }
};
Spread SpreadOf(const std::vector<double>& values);  // NaN are passed over

}  // namespace berth::fgd
