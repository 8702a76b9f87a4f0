// Who runs on how many GPUs of which type after this decision: what schedulers of elastic gangs share
// (env/features/elasticity/elasticity.hpp). Without that feature every job has one width, its gang.
//
//   plan.Begin(view);                                     // an empty cluster
//   plan.Place(view, job);                                // on its least width
//   if (int width = ...; width <= plan.Reach(job)) plan.Widen(job, width);
//   plan.Emit(view, decision);                            // stops, moves, resizes and starts that lead there
#pragma once

#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

class WidthPlan {
 public:
  void Begin(const ClusterView& view);
  // The fewest GPUs of the type on which the job can run; 0 = it cannot.
  static int Least(const ClusterView& view, int job, int type);
  // On its least width: where it runs if that has room, else on the type where that is fastest. Is there
  // room?
  bool Place(const ClusterView& view, int job);
  void Put(int job, int type, int width);
  void Widen(int job, int width);  // REQUIRES: it is placed, width <= Reach(job)

  int TypeOf(int job) const { return type_[Index(job)]; }    // -1 = not placed
  int WidthOf(int job) const { return width_[Index(job)]; }  // 0 = not placed
  int room(int type) const { return room_[Index(type)]; }
  int Reach(int job) const { return WidthOf(job) + room(TypeOf(job)); }  // all that it could have
  void Emit(const ClusterView& view, Decision& decision) const;

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  std::vector<int> type_, width_;  // [J]
  std::vector<int> room_;          // [G]
  std::vector<int> placed_;
};

}  // namespace berth
