#include "env/sim/plan.hpp"

#include <algorithm>

#include "env/sim/in_service.hpp"

namespace berth {

void Plan::Begin(const ClusterView& view, bool preemptive) {
  preemptive_ = preemptive;
  const std::size_t jobs = Index(view.num_jobs());
  if (stamp_.size() != jobs) {
    stamp_.assign(jobs, 0);
    guest_stamp_.assign(jobs, 0);
    type_.assign(jobs, -1);
    width_.assign(jobs, 0);
    host_.assign(jobs, -1);
    guest_.assign(jobs, -1);
    epoch_ = 0;
  }
  if (++epoch_ == 0) {  // wrapped: forget all marks
    std::fill(stamp_.begin(), stamp_.end(), 0);
    std::fill(guest_stamp_.begin(), guest_stamp_.end(), 0);
    epoch_ = 1;
  }
  room_.resize(Index(view.num_types()));
  total_room_ = 0;
  for (int type = 0; type < view.num_types(); ++type) {
    room_[Index(type)] = preemptive ? view.types()[Index(type)].count : view.free_gpus()[Index(type)];
    total_room_ += room_[Index(type)];
  }
  placed_.clear();
  rejected_.clear();
  withheld_.clear();
  controls_.clear();
}

void Plan::Put(const ClusterView& view, int job, int type) {
  BERTH_DCHECK(Fits(view, job, type), "job ", job, " on type ", type);
  Place(job, type, view.Gang(job), view.Gang(job));
}

// It holds what it holds, and of two who share a GPU the first to be kept.
void Plan::Keep(const ClusterView& view, int job) {
  const int partner = view.Partner(job), type = view.TypeOf(job);
  if (partner >= 0 && Placed(partner) && !Hosts(partner) && Stays(view, partner)) {
    Place(job, type, 0, 0);
    host_[Index(job)] = partner;
    SetGuest(partner, job);
    return;
  }
  Place(job, type, Takes(view, job, type, HeldGpus(view, job)), HeldGpus(view, job));
}

// A GPU that takes no new job is on top of the room, and who stays there takes none of it; of two who shared
// it and part the other one, who has to move.
int Plan::Takes(const ClusterView& view, int job, int type, int width) const {
  if (!view.AnyLeaving() || !view.IsRunning(job) || view.TypeOf(job) != type || HeldGpus(view, job) != width)
    return width;
  const int partner = view.Partner(job);
  if (partner >= 0 && Placed(partner) && host_[Index(partner)] < 0 && Stays(view, partner)) return width;
  return HeldInService(view, job);
}

void Plan::Place(int job, int type, int gpus, int width) {
  room_[Index(type)] -= gpus;
  total_room_ -= gpus;
  stamp_[Index(job)] = epoch_;
  type_[Index(job)] = static_cast<std::int8_t>(type);
  width_[Index(job)] = width;
  host_[Index(job)] = -1;
  placed_.push_back(job);
}

bool Plan::FitsOn(const ClusterView& view, int job, int type, int width) const {
  if (Placed(job) && (type_[Index(job)] != type || width <= width_[Index(job)])) return false;
  if (width < view.MinGang(job) || width > view.MaxGang(job)) return false;
  const double rate = width == view.Gang(job) ? view.Rate(job, type) : view.RateAt(job, type, width);
  if (rate <= 0.0) return false;
  const int takes = Takes(view, job, type, width);
  if (!Placed(job)) return takes <= room_[Index(type)];
  return host_[Index(job)] < 0 && !Hosts(job) &&
         takes - Takes(view, job, type, width_[Index(job)]) <= room_[Index(type)];
}

void Plan::PutOn(const ClusterView& view, int job, int type, int width) {
  BERTH_DCHECK(FitsOn(view, job, type, width), "job ", job, " on ", width, " of type ", type);
  const int takes = Takes(view, job, type, width);
  if (!Placed(job)) {
    Place(job, type, takes, width);
  } else {
    const int more = takes - Takes(view, job, type, width_[Index(job)]);
    room_[Index(type)] -= more;
    total_room_ -= more;
    width_[Index(job)] = width;
  }
}

bool Plan::MayHost(const ClusterView& view, int host, int job, int type) const {
  if (host == job || view.Gang(host) != 1 || view.Gang(job) != 1 || Hosts(host)) return false;
  if (view.GpuMilli(host) < 1000 || view.GpuMilli(job) < 1000) return false;
  if (Placed(host)) {
    if (type_[Index(host)] != type || host_[Index(host)] >= 0 || width_[Index(host)] != 1) return false;
    if (Stays(view, host) && !view.InService(view.Devices(host).front())) return false;
  } else {  // who runs on, which nobody beside it keeps
    if (preemptive_ || !view.IsRunning(host) || view.TypeOf(host) != type || view.Width(host) != 1 ||
        view.Partner(host) >= 0 || !view.InService(view.Devices(host).front())) {
      return false;
    }
  }
  return view.PairRate(job, host, type) > 0.0;
}

void Plan::Pack(const ClusterView& view, int job, int host) {
  const int type = Placed(host) ? type_[Index(host)] : view.TypeOf(host);
  BERTH_DCHECK(!Placed(job) && MayHost(view, host, job, type), "job ", job, " beside ", host);
  Place(job, type, 0, 0);
  host_[Index(job)] = host;
  SetGuest(host, job);
}

void Plan::Reject(int job) {
  stamp_[Index(job)] = epoch_;
  type_[Index(job)] = -1;
  width_[Index(job)] = 0;
  host_[Index(job)] = -1;
  rejected_.push_back(job);
}

bool Plan::IsSet(ControlKind kind, int index) const {
  return std::any_of(controls_.begin(), controls_.end(),
                     [&](const Control& control) { return control.kind == kind && control.index == index; });
}

bool Plan::Stays(const ClusterView& view, int job) const {
  return view.IsRunning(job) && type_[Index(job)] == view.TypeOf(job) &&
         (host_[Index(job)] >= 0 || width_[Index(job)] == HeldGpus(view, job));
}

void Plan::EmitRunning(const ClusterView& view, int job, Decision& decision) const {
  if (!Placed(job)) return decision.Stop(job);
  const int type = type_[Index(job)], width = width_[Index(job)], host = host_[Index(job)];
  const int partner = view.Partner(job);
  if (host >= 0) {
    if (host != partner || !Stays(view, job) || !Stays(view, host)) decision.Pack(job, host);
    return;
  }
  if (type != view.TypeOf(job)) {
    width == view.Gang(job) ? decision.Move(job, type) : decision.Resize(job, type, width);
  } else if (width != HeldGpus(view, job)) {
    decision.Resize(job, type, width);
  } else if (partner >= 0 && partner < job && Placed(partner) && host_[Index(partner)] < 0 &&
             Stays(view, partner)) {
    decision.Move(job, type);  // two who shared a GPU part, and both stay on the type
  }
}

void Plan::Emit(const ClusterView& view, Decision& decision) const {
  if (preemptive_) {
    for (int job : view.running()) EmitRunning(view, job, decision);
  }
  for (int job : placed_) {
    if (!view.IsWaiting(job)) continue;
    if (host_[Index(job)] >= 0) {
      decision.Pack(job, host_[Index(job)]);
    } else if (width_[Index(job)] != view.Gang(job)) {
      decision.StartAt(job, type_[Index(job)], width_[Index(job)]);
    } else {
      decision.Start(job, type_[Index(job)]);
    }
  }
  for (int job : rejected_) decision.Reject(job);
  decision.controls.insert(decision.controls.end(), controls_.begin(), controls_.end());
}

int FastestFit(const ClusterView& view, const Plan& plan, int job) {
  int best = -1;
  double best_rate = 0.0;
  for (int type = 0; type < view.num_types(); ++type) {
    const double rate = view.Rate(job, type);
    if (rate > best_rate && plan.Fits(view, job, type)) {
      best_rate = rate;
      best = type;
    }
  }
  return best;
}

}  // namespace berth
