#include "env/features/sharing/share_plan.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"

namespace berth {
namespace {

int LastDevice(const ClusterView& view, int type) {
  return view.first_device(type) + view.cluster().types[U(type)].count;
}

double MemoryOfGpu(const ClusterView& view, int device) {
  return MemoryOf(view, view.TypeOfDevice(device));
}

}  // namespace

void SharePlan::Begin(const ClusterView& view, const Plan& plan) {
  const std::size_t devices = U(view.num_gpus());
  followed_ = 0;
  parts_.clear();
  spare_.assign(U(view.num_types()), 0);
  open_.assign(devices, 0);
  free_.resize(devices);
  memory_.resize(devices);
  for (int d = 0; d < view.num_gpus(); ++d) {
    free_[U(d)] = kWholeMilli;
    memory_[U(d)] = MemoryOfGpu(view, d);
    if (plan.preemptive() || view.DeviceFree(d)) continue;
    open_[U(d)] = 1;
    free_[U(d)] = berth::FreeMilli(view, d);
    memory_[U(d)] = FreeMemoryGb(view, d);
  }
}

bool SharePlan::Holds(const ClusterView& view, int job, int device) const {
  return free_[U(device)] >= view.GpuMilli(job) &&
         HoldsGb(memory_[U(device)], view.MemoryGb(job), MemoryOfGpu(view, device));
}

int SharePlan::Stay(const ClusterView& view, const Plan& plan, int job, int type) const {
  if (!view.IsRunning(job) || view.TypeOf(job) != type) return -1;
  const int device = view.Devices(job).front();
  if (!view.InService(device)) return device;  // it takes no room
  const bool may = IsOpen(device) ? Holds(view, job, device) : Room(plan, type) > 0;
  return may ? device : -1;
}

int SharePlan::Unopened(const ClusterView& view, const Plan& plan, int type) const {
  return Room(plan, type) > 0 ? AnyUnopened(view, plan, type) : -1;
}

int SharePlan::AnyUnopened(const ClusterView& view, const Plan& plan, int type) const {
  const auto withheld = plan.withheld();
  int busy = -1;
  for (int d = view.first_device(type); d < LastDevice(view, type); ++d) {
    if (IsOpen(d) || !view.InService(d)) continue;
    if (std::find(withheld.begin(), withheld.end(), d) != withheld.end()) continue;
    if (view.DeviceFree(d)) return d;
    if (busy < 0) busy = d;
  }
  return busy;
}

void SharePlan::Take(const ClusterView& view, const Part& part) {
  const std::size_t d = U(part.device);
  parts_.push_back(part);
  if (!view.InService(part.device)) {  // who is there may stay, nobody joins
    open_[d] = 1;
    free_[d] = 0;
    return;
  }
  open_[d] = 1;
  free_[d] -= view.GpuMilli(part.job);
  memory_[d] -= view.MemoryGb(part.job);
}

// A job that stays where it runs, for which the plan has counted a whole GPU.
void SharePlan::Settle(const ClusterView& view, const Plan& plan, int job) {
  const int device = view.Devices(job).front(), type = view.TypeOf(job);
  if (view.InService(device) && IsOpen(device)) {
    if (Holds(view, job, device)) {
      ++spare_[U(type)];
    } else {  // who came there while it was thought to leave has the GPU that was counted for it
      const int other = AnyUnopened(view, plan, type);
      BERTH_CHECK(other >= 0, "job ", job, ": counted, and no GPU is left");
      open_[U(other)] = 1;
      for (Part& part : parts_) {
        if (part.device != device || part.stays) continue;
        const int milli = view.GpuMilli(part.job);
        const double memory = view.MemoryGb(part.job);
        free_[U(device)] += milli, free_[U(other)] -= milli;
        memory_[U(device)] += memory, memory_[U(other)] -= memory;
        part.device = other;
      }
    }
  }
  Take(view, {job, device, /*own=*/false, /*stays=*/true});
}

void SharePlan::Follow(const ClusterView& view, const Plan& plan) {
  const auto placed = plan.placed();
  for (; followed_ < placed.size(); ++followed_) {
    const int job = placed[followed_];
    if (view.GpuMilli(job) == kWholeMilli) continue;
    if (view.IsRunning(job) && plan.TypeOf(job) == view.TypeOf(job)) Settle(view, plan, job);
  }
}

void SharePlan::Put(const ClusterView& view, Plan& plan, int job, int type, int device) {
  Follow(view, plan);
  if (spare_[U(type)] > 0) plan.Withhold(type, -spare_[U(type)]);
  spare_[U(type)] = 0;
  const bool stays = view.IsRunning(job) && view.Devices(job).front() == device;
  if (IsOpen(device) && view.InService(device)) plan.Withhold(type, -1);  // what the plan now takes
  plan.PutOn(view, job, type, 1);
  followed_ = plan.placed().size();
  Take(view, {job, device, /*own=*/true, stays});
}

// Where each of the opened GPUs really is: at its number where somebody stays there or it is idle then, else
// at any that is.
void SharePlan::FindHomes(const ClusterView& view, const Plan& plan, const Decision& decision) {
  const int devices = view.num_gpus();
  taken_.assign(U(devices), 0);
  home_.assign(U(devices), -1);
  for (int d = 0; d < devices; ++d) taken_[U(d)] = !view.InService(d);
  for (int d : plan.withheld()) taken_[U(d)] = 1;
  for (const Command& command : decision.commands) {
    for (int k = 0; k < command.devices_count; ++k)
      taken_[U(decision.devices[U(command.devices_begin + k)])] = 1;
  }
  for (const Part& part : parts_) {  // who moves between GPUs of a type has no command yet
    if (part.own && !part.stays && command_of_[U(part.job)] < 0) command_of_[U(part.job)] = -2;
  }
  for (int job : view.running()) {
    if (command_of_[U(job)] != -1) continue;
    for (int d : view.Devices(job)) {
      taken_[U(d)] = 1;
      if (view.GpuMilli(job) < kWholeMilli) home_[U(d)] = d;
    }
  }
  for (const bool other : {false, true}) {
    for (const Part& part : parts_) {
      int& home = home_[U(part.device)];
      if (home >= 0) continue;
      if (!other) {
        if (taken_[U(part.device)] == 0) home = part.device;
      } else {
        const int type = view.TypeOfDevice(part.device);
        for (int d = view.first_device(type); d < LastDevice(view, type) && home < 0; ++d) {
          if (taken_[U(d)] == 0) home = d;
        }
        BERTH_CHECK(home >= 0, "job ", part.job, ": counted, and no GPU is left");
      }
      if (home >= 0) taken_[U(home)] = 1;
    }
  }
}

void SharePlan::Name(const ClusterView& view, const Plan& plan, Decision& decision) {
  Follow(view, plan);
  if (std::none_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.own && !part.stays; }))
    return;
  command_of_.assign(U(view.num_jobs()), -1);
  for (std::size_t i = 0; i < decision.commands.size(); ++i)
    command_of_[U(decision.commands[i].job)] = static_cast<int>(i);
  FindHomes(view, plan, decision);
  for (const Part& part : parts_) {
    if (!part.own || part.stays) continue;
    const int device = home_[U(part.device)], at = command_of_[U(part.job)];
    if (at < 0) {
      decision.Move(part.job, plan.TypeOf(part.job), std::span<const int>(&device, 1));
      continue;
    }
    Command& command = decision.commands[U(at)];
    command.devices_begin = static_cast<int>(decision.devices.size());
    command.devices_count = 1;
    decision.devices.push_back(device);
  }
}

}  // namespace berth
