#include "baselines/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/placement/in_service.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/topology/topology.hpp"
#include "env/predict/run_times.hpp"

namespace berth {

void KeepOnLeaving(const ClusterView& view, Plan& plan) {
  if (!view.AnyLeaving() || !plan.preemptive()) return;
  for (int job : view.running()) {
    if (!plan.Placed(job) && NoneInService(view, job)) plan.Keep(view, job);
  }
}

bool FitsOrStays(const ClusterView& view, const Plan& plan, int job, int type) {
  if (!StaysOnLeaving(view, job, type)) return plan.Fits(view, job, type);
  return !plan.Placed(job) && plan.Takes(view, job, type, view.Gang(job)) <= plan.room(type);
}

void PutOrStay(const ClusterView& view, Plan& plan, int job, int type) {
  StaysOnLeaving(view, job, type) ? plan.Keep(view, job) : plan.Put(view, job, type);
}

bool EndsBeforeLeaving(const ClusterView& view, int job) {
  if (view.granted() < Knowledge::kEstimate) return false;
  const double leaves = FirstLeavesAt(view, job);
  const double rate = view.RateAt(job, view.TypeOf(job), view.Width(job));
  const double from = std::max(view.now(), view.ProgressOf(job).from);
  return leaves < kNever && view.RemainingSteps(job) <= rate * (leaves - from);
}

LeavingMoves::LeavingMoves(const ClusterView& view, const Plan& plan, Decision& decision)
    : view_(view), plan_(plan), decision_(decision) {
  if (!view.AnyLeaving() || !plan.preemptive()) return;
  for (int type = 0; type < view.num_types(); ++type) room_.push_back(plan.room(type));
}

bool LeavingMoves::Fits(int job, int type) const {
  const int here = view_.TypeOf(job), gang = view_.Gang(job);
  if (room_.empty() || AllInService(view_, job) || view_.Partner(job) >= 0 || plan_.TypeOf(job) != here ||
      plan_.WidthOf(job) != view_.Width(job) || std::ranges::find(moved_, job) != moved_.end())
    return false;
  const int held = type == here ? HeldInService(view_, job) : 0;
  if (view_.Rate(job, type) <= 0.0 || gang > room_[static_cast<std::size_t>(type)] + held) return false;
  return !EndsBeforeLeaving(view_, job) ||
         MoveSeconds(view_, job) + view_.RemainingSeconds(job, type) < SecondsLeft(view_, job);
}

bool LeavingMoves::Offer(int job, int type) {
  if (!Fits(job, type)) return false;
  const int held = HeldInService(view_, job);
  // Whoever waits was passed over before these were idle.
  if (held > 0 && type != view_.TypeOf(job) && view_.num_waiting() > 0)
    decision_.wake_at = std::min(decision_.wake_at, std::nextafter(view_.now(), kNever));
  room_[static_cast<std::size_t>(view_.TypeOf(job))] += held;
  room_[static_cast<std::size_t>(type)] -= view_.Gang(job);
  moved_.push_back(job);
  decision_.Move(job, type);
  return true;
}

bool LeavingMoves::Offer(int job) {
  const int here = view_.TypeOf(job);
  int best = here >= 0 && Fits(job, here) ? here : -1;
  for (int type = 0; type < view_.num_types() && here >= 0; ++type) {
    if ((best < 0 || view_.Rate(job, type) > view_.Rate(job, best)) && Fits(job, type)) best = type;
  }
  return best >= 0 && Offer(job, best);
}

void OfferIdle(const ClusterView& view, const Plan& plan, const Ranking& ranking, Decision& decision) {
  LeavingMoves moves(view, plan, decision);
  for (const auto& [rank, job] : ranking) moves.Offer(job);
}

void OfferIdle(const ClusterView& view, const Plan& plan, std::span<const int> jobs, Decision& decision) {
  LeavingMoves moves(view, plan, decision);
  for (int job : jobs) moves.Offer(job);
}

int FastestOrHere(const ClusterView& view, const Plan& plan, int job) {
  const int best = FastestFit(view, plan, job);
  const int here = view.TypeOf(job);
  if (here < 0 || !FitsOrStays(view, plan, job, here)) return best;
  return best < 0 || view.Rate(job, here) >= view.Rate(job, best) ? here : best;
}

void FillByRank(const ClusterView& view, Ranking& ranking, Plan& plan) {
  std::sort(ranking.begin(), ranking.end());
  KeepOnLeaving(view, plan);
  for (const auto& [rank, job] : ranking) {
    if (plan.total_room() == 0) return;
    const int type = FastestOrHere(view, plan, job);
    if (type >= 0) PutOrStay(view, plan, job, type);
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

double ReadSlice(Params& params) {
  return params.Number(kSliceParam.name, 0.0, 1e12);
}

bool CanRun(const ClusterView& view, int job, int type) {
  return view.Rate(job, type) > 0.0 && view.Gang(job) <= view.types()[static_cast<std::size_t>(type)].count;
}

bool NamesDevices(const ClusterView& view) {
  const auto* topology = view.features().Find<TopologySettings>();
  const bool limited = topology && !(topology->cpus_per_node.empty() && topology->node_memory_gb.empty() &&
                                     topology->further_per_node.empty());
  return !limited && !view.divides_gpus();
}

double StartSeconds(const ClusterView& view, int job, int last, int type) {
  if (const CheckpointState* state = view.Find<CheckpointState>()) {
    const auto j = static_cast<std::size_t>(job);
    return view.features().Find<CheckpointSettings>()->cold_start_s +
           (last < 0 ? 0.0 : state->save_s[j] + state->restore_s[j]);
  }
  const Costs& costs = view.costs();
  if (last < 0) return 0.0;
  return costs.checkpoint_s + costs.restore_s + (last != type ? costs.migration_s : 0.0);
}

double ChangeSeconds(const ClusterView& view, int job, int type) {
  return view.TypeOf(job) == type ? 0.0 : StartSeconds(view, job, view.LastTypeOf(job), type);
}

double MoveSeconds(const ClusterView& view, int job) {
  return StartSeconds(view, job, view.TypeOf(job), /*type=*/-1);  // -1: on its own type it migrates too
}

}  // namespace berth
