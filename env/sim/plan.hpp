// Who runs where after this decision point: the legality shared by preemptive schedulers, the MDP's action
// mask and frozen policies.
//
//   plan.Begin(view, /*preemptive=*/true);          // an empty cluster, every active job a candidate
//   for (job, type in order of preference) if (plan.Fits(job, type)) plan.Put(job, type);
//   plan.Emit(view, decision);                      // stops, moves and starts that lead there
//
// Keeping a job where it is costs nothing. A plan may also give a job another number of GPUs than its gang,
// put it on the GPU of another, turn it away, and set what features control: what of it is legal is the
// simulator's to say (env/sim/decision_rules.cpp), and asked here in advance, so that a plan which was filled
// by FitsOn, MayHost and MayReject is always a legal decision. Where GPUs are divided a job counts as if it
// held whole ones.
//
// Reused between calls; allocates only when the scenario grows.
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

  // The same on `width` GPUs: of a job that is not placed, or, with more than it has, of one that is placed
  // on the type by itself.
  bool FitsOn(const ClusterView& view, int job, int type, int width) const;
  void PutOn(const ClusterView& view, int job, int type, int width);
  // GPUs of the type's room that the job would take there: fewer than its width where it stays on GPUs that
  // take no new job. Does not change while a plan grows, but by what becomes of a partner.
  int Takes(const ClusterView& view, int job, int type, int width) const;
  // `host` will run alone on one GPU of the type, and the two can share it.
  bool MayHost(const ClusterView& view, int host, int job, int type) const;
  void Pack(const ClusterView& view, int job, int host);  // REQUIRES: MayHost, and the job is not placed
  bool MayReject(const ClusterView& view, int job) const { return !Placed(job) && view.IsWaiting(job); }
  void Reject(int job);
  // A control, and GPUs of a type that it, or what is no job, keeps from jobs. REQUIRES: so much room.
  void Set(const Control& control) { controls_.push_back(control); }
  void Withhold(int type, int gpus) { room_[Index(type)] -= gpus, total_room_ -= gpus; }
  void WithholdDevice(int type, int device) {
    Withhold(type, 1);
    withheld_.push_back(device);
  }
  std::span<const int> withheld() const { return withheld_; }  // devices
  bool IsSet(ControlKind kind, int index) const;

  bool Placed(int job) const { return stamp_[Index(job)] == epoch_; }  // or turned away
  int TypeOf(int job) const { return Placed(job) ? type_[Index(job)] : -1; }
  int WidthOf(int job) const { return Placed(job) ? width_[Index(job)] : 0; }  // 0: of one that is packed
  int HostOf(int job) const { return Placed(job) ? host_[Index(job)] : -1; }   // -1 = it is not packed
  int GuestOf(int job) const { return Hosts(job) ? guest_[Index(job)] : -1; }  // -1 = nobody is beside it
  int room(int type) const { return room_[Index(type)]; }  // GPUs of the type not yet taken
  int total_room() const { return total_room_; }
  std::span<const int> placed() const { return placed_; }  // in the order put
  bool preemptive() const { return preemptive_; }

  void Emit(const ClusterView& view, Decision& decision) const;

 private:
  bool Hosts(int job) const { return guest_stamp_[Index(job)] == epoch_; }
  void SetGuest(int host, int guest) {
    guest_stamp_[Index(host)] = epoch_;
    guest_[Index(host)] = guest;
  }
  void Place(int job, int type, int gpus, int width);
  bool Stays(const ClusterView& view, int job) const;  // a running job, on as many GPUs of its type
  void EmitRunning(const ClusterView& view, int job, Decision& decision) const;
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  bool preemptive_ = true;
  int total_room_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> stamp_, guest_stamp_;  // [J]
  std::vector<std::int8_t> type_;                   // [J]
  std::vector<int> width_, host_, guest_;           // [J]
  std::vector<int> room_;                           // [G]
  std::vector<int> placed_, rejected_, withheld_;
  std::vector<Control> controls_;
};

// The type with room on which the job runs fastest (first on ties), or -1. Queue rules place by this unless
// told otherwise.
int FastestFit(const ClusterView& view, const Plan& plan, int job);

}  // namespace berth
