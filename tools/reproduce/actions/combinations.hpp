// Clusters, loads and features drawn together, for one policy for all of them: `berth reproduce actions
// --only generalist`. What it is trained on and what it is held to are drawn apart.
#pragma once

#include <string>
#include <vector>

namespace berth {

// As `berth evaluate` takes them. Their schedulers know the oracle's run times.
struct Combination {
  std::string cluster, workload, features;  // features "" = none
  bool operator==(const Combination&) const = default;
};

// To be trained on, and ten others, none of which is among them. The same in every build.
std::vector<Combination> TrainingCombinations();
std::vector<Combination> HeldOutCombinations();
// All of them in turn, as a workload.
std::string MixOf(const std::vector<Combination>& combinations);

}  // namespace berth
