// Immediate dispatch: a job joins the queues of the GPUs that it will run on when it arrives, and stays
// there. Each GPU serves its queue first come, first served; a gang is in as many queues as it has members
// and starts when it heads them all. Queues are in one order, that of dispatch, so the earliest job that has
// not started heads all its queues in the end: nobody waits for ever.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "env/sim/scheduler.hpp"

namespace berth {

class DeviceQueues;

// Chooses the GPUs of an arrival.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  virtual Knowledge knowledge() const = 0;
  virtual void Reset(const ClusterView& view) { (void)view; }
  // Fills `devices` with as many GPUs of one type as the job's gang; one on which it can run.
  virtual void Choose(const ClusterView& view, const DeviceQueues& queues, int job,
                      std::vector<int>& devices) = 0;
};

class DeviceQueues final : public Scheduler {
 public:
  explicit DeviceQueues(std::unique_ptr<Dispatcher> dispatcher) : dispatcher_(std::move(dispatcher)) {}
  Knowledge knowledge() const override { return dispatcher_->knowledge(); }
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

  // Jobs dispatched to the GPU that have not ended, in order of dispatch; those that run are at the head.
  std::span<const int> Queue(int device) const { return queue_[static_cast<std::size_t>(device)]; }
  // Jobs in the system in order of dispatch, and where each one is to run.
  std::span<const int> jobs() const { return jobs_; }
  std::span<const int> Devices(int job) const { return devices_[static_cast<std::size_t>(job)]; }

 private:
  void Join(int job);  // the queues of its devices
  bool HeadsAll(int job) const;

  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<std::vector<int>> queue_;    // [D]
  std::vector<std::vector<int>> devices_;  // [J]
  std::vector<int> jobs_;
  std::vector<int> room_;  // [G] idle GPUs not yet given away, with features
};

// The type of a device.
int TypeOfDevice(const ClusterView& view, int device);

}  // namespace berth
