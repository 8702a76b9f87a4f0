// Who runs where after this decision point: the legality shared by preemptive schedulers, the MDP's action
// mask and frozen policies.
//
//   plan.Begin(view, /*preemptive=*/true);          // an empty cluster, every active job a candidate
//   for (job, type in order of preference) if (plan.Fits(job, type)) plan.Put(job, type);
//   plan.Emit(view, decision);                      // stops, moves and starts that lead there
//
// Keeping a job where it is costs nothing. Reused between calls; allocates only when the scenario grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

class Plan {
 public:
  // Preemptive: all GPUs are offered and running jobs that are not put are stopped. Otherwise running jobs
  // stay and only the free GPUs are offered.
  void Begin(const ClusterView& view, bool preemptive);
  // The job can run on the type, is not placed yet, and the gang fits the room left.
  bool Fits(const ClusterView& view, int job, int type) const {
    return !Placed(job) && view.Rate(job, type) > 0.0 && view.Gang(job) <= room_[Index(type)];
  }
  void Put(const ClusterView& view, int job, int type);
  // Places a running job where it is.
  void Keep(const ClusterView& view, int job);

  bool Placed(int job) const { return stamp_[Index(job)] == epoch_; }
  int TypeOf(int job) const { return Placed(job) ? type_[Index(job)] : -1; }
  int room(int type) const { return room_[Index(type)]; }  // GPUs of the type not yet taken
  int total_room() const { return total_room_; }
  std::span<const int> placed() const { return placed_; }  // in the order put
  bool preemptive() const { return preemptive_; }

  void Emit(const ClusterView& view, Decision& decision) const;

 private:
  void Place(int job, int type, int gpus);
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  bool preemptive_ = true;
  int total_room_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> stamp_;  // [J]
  std::vector<std::int8_t> type_;     // [J]
  std::vector<int> room_;             // [G]
  std::vector<int> placed_;
};

// The type with room on which the job runs fastest (first on ties), or -1. Queue rules place by this unless
// told otherwise.
int FastestFit(const ClusterView& view, const Plan& plan, int job);

}  // namespace berth
