// What schedulers of several families share: where a job can run and what a change costs; jobs sorted by a
// rank that fill a cluster from the first to the last.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "env/base/spec.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// (rank, job), the least first, ties in arrival order.
using Ranking = std::vector<std::pair<double, int>>;

// Preemptive rules beside GPUs that are about to go, where nobody new may start: who runs on no others keeps
// them, at no room, until they have gone, for stopping it would free nothing. Keep comes first; then a rule
// asks and puts by FitsOrStays and PutOrStay, which count of a gang that stays the GPUs that others could
// have, all of them where none is to go.
void KeepOnLeaving(const ClusterView& view, Plan& plan);
bool FitsOrStays(const ClusterView& view, const Plan& plan, int job, int type);
void PutOrStay(const ClusterView& view, Plan& plan, int job, int type);

// By what the scheduler may know of run times the job ends before the first of its GPUs goes, as announced.
// False where nothing is announced, or it may know none.
bool EndsBeforeLeaving(const ClusterView& view, int job);

// At last, so that nothing interrupts them, those that stay on GPUs of which some are about to go are offered
// what the others leave idle: behind plan.Emit, in the order that the scheduler gives. Who ends in time moves
// only where it ends sooner, costs included.
class LeavingMoves {
 public:
  LeavingMoves(const ClusterView& view, const Plan& plan, Decision& decision);
  // To the type, others of its own included. Did it move?
  bool Offer(int job, int type);
  // To the fastest type with room; of equals it keeps its own.
  bool Offer(int job);

 private:
  bool Fits(int job, int type) const;
  const ClusterView& view_;
  const Plan& plan_;
  Decision& decision_;
  std::vector<int> room_;   // [G]
  std::vector<int> moved_;  // jobs
};
void OfferIdle(const ClusterView& view, const Plan& plan, const Ranking& ranking, Decision& decision);
void OfferIdle(const ClusterView& view, const Plan& plan, std::span<const int> jobs, Decision& decision);

// The fastest type with room, or the one where the job runs if that is as fast; -1 = no room anywhere.
int FastestOrHere(const ClusterView& view, const Plan& plan, int job);

// Sorts `ranking` and puts its jobs into `plan` (already begun), each on FastestOrHere, behind
// KeepOnLeaving; a job that does not fit is passed over.
void FillByRank(const ClusterView& view, Ranking& ranking, Plan& plan);

// The parameter of strict rules that may be told to be loose.
inline constexpr ParamInfo kOvertakeParam = {
    "overtake", "false", "true: a job that does not fit is passed over; false: it blocks those behind it"};

// The parameter of preemptive rules whose order changes as jobs run.
inline constexpr ParamInfo kSliceParam = {
    "slice", "360",
    "s, clocks event and hpc: look again after this long while jobs wait; 0 = only at events"};
double ReadSlice(Params& params);

// Non-preemptive: sorts `ranking` and starts its jobs in `plan` (already begun), each on the fastest type
// with room. A job that does not fit is passed over with `overtake`, and ends it without.
void StartByRank(const ClusterView& view, Ranking& ranking, bool overtake, Plan& plan);

// Sooner or later: it has a rate there, and the type as many GPUs as its gang, which those of a part of a
// cluster (env/sim/view_part.hpp) need not have.
bool CanRun(const ClusterView& view, int job, int type);

// May a scheduler say on which devices jobs run? Where nodes have limited cores and memory, or GPUs are held
// in parts, it leaves that to the cluster, which knows what goes where.
bool NamesDevices(const ClusterView& view);

// Seconds without progress of a start on `type` by a job that was last on type `last` (-1: nowhere yet) and
// is stopped there first if it still runs (env/sim/scenario.hpp: Costs; feature checkpoints: save, load and
// cold start, by the job's size, with the storage to itself).
double StartSeconds(const ClusterView& view, int job, int last, int type);
// The same for running on `type` next; 0 where it runs there already.
double ChangeSeconds(const ClusterView& view, int job, int type);
// The same for a move of a running job, to another type or to other GPUs of its own.
double MoveSeconds(const ClusterView& view, int job);

}  // namespace berth
