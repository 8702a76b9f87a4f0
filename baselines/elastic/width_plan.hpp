// Who runs on how many GPUs of which type after this decision: what schedulers of elastic gangs share
// (env/features/elasticity/elasticity.hpp). Without that feature every job has one width, its gang.
//
//   plan.Begin(view);                                     // an empty cluster, but for who keeps what goes
//   plan.Place(view, job);                                // on its least width
//   if (plan.MayWiden(view, job, width)) plan.Widen(view, job, width);
//   plan.MoveOffLeaving(view, decision);                  // who stays on GPUs about to go, to idle ones
//   plan.Emit(view, decision);                            // stops, moves, resizes and starts that lead there
//
// GPUs that are about to go take nobody new. Who runs on no others is placed there by Begin, and takes no
// room; a gang that stays on some takes as many as it would leave to others.
#pragma once

#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

class WidthPlan {
 public:
  void Begin(const ClusterView& view);
  // GPUs of the room that the job would take there.
  static int Takes(const ClusterView& view, int job, int type, int width);
  // The fewest GPUs of the type on which the job can run; 0 = it cannot.
  static int Least(const ClusterView& view, int job, int type);
  // On its least width: where it runs if that has room, else on the type where that is fastest. Is there
  // room, or was it placed before?
  bool Place(const ClusterView& view, int job);
  void Put(const ClusterView& view, int job, int type, int width);  // REQUIRES: it is not placed
  // REQUIRES: MayWiden.
  void Widen(const ClusterView& view, int job, int width);
  // GPUs more of the room that a placed job would take on another width; 0 and less where it would stay on
  // GPUs about to go, all of `width` where it would leave them.
  int Costs(const ClusterView& view, int job, int width) const {
    return Takes(view, job, TypeOf(job), width) - taken_[Index(job)];
  }
  // Is there room for the width of a placed job? No wider than Reach, which bounds what need be asked.
  bool MayWiden(const ClusterView& view, int job, int width) const {
    return Costs(view, job, width) <= room(TypeOf(job));
  }
  int Reach(const ClusterView& view, int job) const;
  // One more than a placed job has, or those on which it runs now where these cost no more.
  int Next(const ClusterView& view, int job) const;

  // Those on GPUs of which some are about to go: who is placed nowhere, or on fewer of the type, stays as
  // wide as it is where that takes no more than is left, or than its place does. Then each that finds GPUs
  // idle goes there, on as many as it has, where it runs fastest; who ends in time only where that is faster.
  // To fewer GPUs it goes where these are faster, and else a second before the first of its own goes, for
  // until then those would stand idle. Sets `wake_at` for that moment, and at once where a move leaves GPUs
  // in service and others wait.
  void MoveOffLeaving(const ClusterView& view, Decision& decision);

  int TypeOf(int job) const { return type_[Index(job)]; }    // -1 = not placed
  int WidthOf(int job) const { return width_[Index(job)]; }  // 0 = not placed
  int room(int type) const { return room_[Index(type)]; }
  bool OnLeaving(int job) const { return taken_[Index(job)] < WidthOf(job); }  // placed on GPUs about to go
  bool RunsOn(const ClusterView& view, int job) const;  // placed where it runs, on those very GPUs
  void Emit(const ClusterView& view, Decision& decision) const;

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  std::vector<int> type_, width_;  // [J]
  std::vector<int> taken_;         // [J] GPUs of the room
  std::vector<int> room_;          // [G]
  std::vector<int> placed_;
  std::vector<int> moved_;  // from GPUs about to go, perhaps to others of their type
};

}  // namespace berth
