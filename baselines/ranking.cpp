#include "baselines/ranking.hpp"

#include <algorithm>

#include "env/features/checkpoints.hpp"
#include "env/features/topology.hpp"

namespace berth {

int FastestOrHere(const ClusterView& view, const Plan& plan, int job) {
  const int best = FastestFit(view, plan, job);
  const int here = view.TypeOf(job);
  if (best < 0 || here < 0 || !plan.Fits(view, job, here)) return best;
  return view.Rate(job, here) >= view.Rate(job, best) ? here : best;
}

void FillByRank(const ClusterView& view, Ranking& ranking, Plan& plan) {
  std::sort(ranking.begin(), ranking.end());
  for (const auto& [rank, job] : ranking) {
    if (plan.total_room() == 0) return;
    const int type = FastestOrHere(view, plan, job);
    if (type >= 0) plan.Put(view, job, type);
  }
}

void StartByRank(const ClusterView& view, Ranking& ranking, bool overtake, Plan& plan) {
  std::sort(ranking.begin(), ranking.end());
  for (const auto& [rank, job] : ranking) {
    const int type = FastestFit(view, plan, job);
    if (type >= 0) {
      plan.Put(view, job, type);
    } else if (!overtake) {
      return;
    }
  }
}

bool CanRun(const ClusterView& view, int job, int type) {
  return view.Rate(job, type) > 0.0 && view.Gang(job) <= view.types()[static_cast<std::size_t>(type)].count;
}

bool NamesDevices(const ClusterView& view) {
  const auto& topology = view.features().topology;
  const bool limited = topology && !(topology->cpus_per_node.empty() && topology->node_memory_gb.empty() &&
                                     topology->further_per_node.empty());
  return !limited && view.sharing() == nullptr;
}

double ChangeSeconds(const ClusterView& view, int job, int type) {
  const int last = view.LastTypeOf(job);
  if (last < 0 || view.TypeOf(job) == type) return 0.0;
  if (const CheckpointState* state = view.checkpoints())
    return state->save_s[static_cast<std::size_t>(job)] + state->restore_s[static_cast<std::size_t>(job)] +
           view.features().checkpoints->cold_start_s;
  const Costs& costs = view.costs();
  return costs.checkpoint_s + costs.restore_s + (last != type ? costs.migration_s : 0.0);
}

}  // namespace berth
