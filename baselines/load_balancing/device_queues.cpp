#include "baselines/load_balancing/device_queues.hpp"

#include <algorithm>

#include "baselines/ranking.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
int TypeOfDevice(const ClusterView& view, int device) {
  int type = view.num_types() - 1;
  while (view.first_device(type) > device) --type;
  return type;
}

void DeviceQueues::Reset(const ClusterView& view) {
  dispatcher_->Reset(view);
  queue_.assign(U(view.num_gpus()), {});
  devices_.assign(U(view.num_jobs()), {});
  jobs_.clear();
}

void DeviceQueues::Decide(const ClusterView& view, Decision& decision) {
  std::erase_if(jobs_, [&](int job) {
    if (!view.IsDone(job)) return false;
    for (int device : devices_[U(job)]) std::erase(queue_[U(device)], job);
    return true;
  });
  for (int job : view.running()) {  // unknown after a Reset: it heads the queues of its GPUs
    if (!devices_[U(job)].empty()) continue;
    devices_[U(job)].assign(view.Devices(job).begin(), view.Devices(job).end());
    Join(job);
  }
  for (int job : view.waiting()) {
    std::vector<int>& devices = devices_[U(job)];
    if (std::all_of(devices.begin(), devices.end(), [&](int d) { return view.InService(d); })) continue;
    for (int device : devices) std::erase(queue_[U(device)], job);  // one is gone: it queues elsewhere
    std::erase(jobs_, job);
    devices.clear();
  }
  for (int job : view.waiting()) {
    if (!devices_[U(job)].empty()) continue;
    bool anywhere = false;  // as many GPUs in service as it needs
    for (int type = 0; type < view.num_types(); ++type) anywhere = anywhere || CanRun(view, job, type);
    if (!anywhere) continue;
    dispatcher_->Choose(view, *this, job, devices_[U(job)]);
    BERTH_CHECK(static_cast<int>(devices_[U(job)].size()) == view.Gang(job), devices_[U(job)].size(),
                " devices, gang ", view.Gang(job));
    Join(job);
  }
  const bool named = NamesDevices(view);  // otherwise a queue stands for some device of the type
  room_.assign(view.free_gpus().begin(), view.free_gpus().end());
  for (int job : view.waiting()) {
    if (devices_[U(job)].empty() || !HeadsAll(job)) continue;
    const int type = TypeOfDevice(view, devices_[U(job)].front());
    if (named) {
      decision.Start(job, type, devices_[U(job)]);
    } else if (view.Gang(job) <= room_[U(type)]) {
      decision.Start(job, type);
      room_[U(type)] -= view.Gang(job);
    }
  }
}

void DeviceQueues::Join(int job) {
  for (int device : devices_[U(job)]) queue_[U(device)].push_back(job);
  jobs_.push_back(job);
}

bool DeviceQueues::HeadsAll(int job) const {
  const auto& devices = devices_[U(job)];
  return std::all_of(devices.begin(), devices.end(),
                     [&](int device) { return queue_[U(device)].front() == job; });
}

}  // namespace berth
