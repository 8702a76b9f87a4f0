#include "baselines/dependencies/dependents.hpp"

#include <algorithm>

#include "env/features/stages/stages.hpp"

namespace berth {

double MeanSeconds(const ClusterView& view, int job) {
  double sum = 0.0;
  int types = 0;
  for (int type = 0; type < view.num_types(); ++type) {
    if (view.Rate(job, type) <= 0.0) continue;
    sum += view.TotalSteps(job) / view.Rate(job, type);
    ++types;
  }
  return sum / types;
}

double UpwardRank(const ClusterView& view, int job, std::vector<double>& rank) {
  double& own = rank[static_cast<std::size_t>(job)];
  if (own >= 0.0) return own;
  double longest = 0.0;
  for (int child : view.Find<StageState>()->children[static_cast<std::size_t>(job)]) {
    if (view.IsBlocked(child)) longest = std::max(longest, UpwardRank(view, child, rank));
  }
  return own = MeanSeconds(view, job) + longest;
}

}  // namespace berth
