#include "env/features/topology/settled_nodes.hpp"

#include <utility>

#include "env/base/index.hpp"

namespace berth {

void SettledNodes::Begin(const ClusterView& view, const Plan& plan, const Decision& decision) {
  state_ = view.Find<PlacementState>();
  free_ = state_->free;
  idle_.assign(U(view.num_gpus()), 0);
  for (int d = 0; d < view.num_gpus(); ++d) idle_[U(d)] = view.DeviceFree(d);
  for (int d : plan.withheld()) {
    if (std::exchange(idle_[U(d)], 0) != 0) free_->Take(state_->layout->NodeOf(d), 1, NodeDemand{});
  }
  command_of_.assign(U(view.num_jobs()), -1);
  for (std::size_t i = 0; i < decision.commands.size(); ++i) {
    const Command& command = decision.commands[i];
    command_of_[U(command.job)] = static_cast<int>(i);
    if (view.IsRunning(command.job)) Leave(view, command.job);
  }
  for (const Command& command : decision.commands) {
    for (int k = 0; k < command.devices_count; ++k) {
      const int d = decision.devices[U(command.devices_begin + k)];
      if (std::exchange(idle_[U(d)], 0) != 0)
        free_->Take(state_->layout->NodeOf(d), 1, DemandOf(command.job));
    }
  }
}

void SettledNodes::Leave(const ClusterView& view, int job) {
  if (view.GpuMilli(job) < 1000) return;  // others may hold the rest
  const int partner = view.Partner(job);
  if (partner >= 0 && idle_[U(view.Devices(job).front())] == 0 && command_of_[U(partner)] < 0) return;
  for (int d : view.Devices(job)) {
    if (!view.InService(d) || idle_[U(d)] != 0) continue;
    idle_[U(d)] = 1;
    free_->Take(state_->layout->NodeOf(d), -1, DemandOf(job));
  }
}

void SettledNodes::Stay(const ClusterView& view, int job) {
  for (int d : view.Devices(job)) {
    if (idle_[U(d)] == 0) continue;
    idle_[U(d)] = 0;
    free_->Take(state_->layout->NodeOf(d), 1, DemandOf(job));
  }
}

void SettledNodes::Name(const ClusterView& view, int job, std::span<const NodeShare> shares,
                        Decision& decision) {
  devices_.clear();
  for (const NodeShare& share : shares) {
    int left = share.members;
    const int first = state_->layout->first_device[U(share.node)];
    for (int d = first; d < first + state_->layout->Size(share.node) && left > 0; ++d) {
      if (idle_[U(d)] == 0) continue;
      idle_[U(d)] = 0;
      devices_.push_back(d);
      --left;
    }
    free_->Take(share.node, share.members, DemandOf(job));
  }
  if (const int at = CommandOf(job); at >= 0) {
    Command& command = decision.commands[U(at)];
    command.devices_begin = static_cast<int>(decision.devices.size());
    command.devices_count = static_cast<int>(devices_.size());
    decision.devices.insert(decision.devices.end(), devices_.begin(), devices_.end());
    return;
  }
  decision.Move(job, view.TypeOf(job), devices_);
  decision.commands.back().width = static_cast<int>(devices_.size());
}

}  // namespace berth
