// Row 1 for one knowledge: the learned policies beside every scheduler that knows no more, and what is
// asked of them.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/opponents.hpp"

namespace berth {

struct ClusterPart {
  const char* name;
  const char* policy;  // PolicyShelf's
  Knowledge knowledge;
};
inline constexpr ClusterPart kClusterParts[] = {{"oracle", "hetero_oracle", Knowledge::kOracle},
                                                {"blind", "hetero_blind", Knowledge::kBlind}};

// One scheduler beside the learned policies.
struct ClusterRow {
  Opponent opponent;
  std::vector<LoadResult> at;      // [loads]
  Comparison all, singles, gangs;  // over all loads, over those of single GPUs, of gangs
  Comparison carried;              // over CarriedLoads of both
};

struct ClusterResult {
  std::vector<std::string> specs;  // of the policies
  std::vector<Grid> policies;
  std::vector<ClusterRow> rows;  // the best first, by the ratio; those without one last
  const ClusterRow* Find(const std::string& spec) const;
};
ClusterResult MeasurePart(const ClusterPart& part, const LearnedSettings& settings, const LoadGrid& grid,
                          const Opponents& opponents, const ReproductionRuns& runs);

void AddClusterTargets(const ClusterPart& part, const ClusterResult& result, const LoadGrid& grid,
                       const ReproductionRuns& runs, std::vector<Target>& targets);

}  // namespace berth
