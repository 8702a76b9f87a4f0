#include "env/sim/most_free_nodes.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/sim/feature.hpp"

namespace berth {

void ForgetNodesUnlessFree(const ClusterView& view, Decision& decision) {
  bool limited = view.divides_gpus();
  for ([[maybe_unused]] const FeatureState& feature : view.feature_states().Of(Hook::kMayTake))
    limited = true;
  if (!limited) return;
  for (Command& command : decision.commands) command.devices_begin = command.devices_count = 0;
  decision.devices.clear();
}

void MostFreeNodes::Name(const ClusterView& view, Decision& decision) {
  leaves_.assign(U(view.num_jobs()), 0);
  for (const Command& c : decision.commands) leaves_[U(c.job)] = c.kind != CommandKind::kStart;
  for (std::vector<int>& node : free_) node.clear();
  std::vector<char> leaving(U(view.num_gpus()), 0);
  for (int job : view.running()) {
    if (leaves_[U(job)] == 0) continue;
    for (int device : view.Devices(job)) leaving[U(device)] = 1;
  }
  for (int device = view.num_gpus() - 1; device >= 0; --device) {
    if (!view.DeviceFree(device) && (leaving[U(device)] == 0 || !view.InService(device))) continue;
    const auto node = U(view.NodeOf(device));
    if (node >= free_.size()) free_.resize(node + 1);
    free_[node].push_back(device);
  }
  for (Command& c : decision.commands) {
    if (c.type < 0 || c.devices_count > 0) continue;
    const int needed = c.width > 0 ? c.width : view.Gang(c.job);
    const std::size_t begin = decision.devices.size();
    while (decision.devices.size() < begin + U(needed)) {
      std::vector<int>* best = nullptr;
      for (std::vector<int>& node : free_) {
        const bool of_type = !node.empty() && view.TypeOfDevice(node.back()) == c.type;
        if (of_type && (best == nullptr || node.size() > best->size())) best = &node;
      }
      if (best == nullptr) break;
      while (!best->empty() && decision.devices.size() < begin + U(needed)) {
        decision.devices.push_back(best->back());
        best->pop_back();
      }
    }
    if (decision.devices.size() < begin + U(needed)) continue;
    c.devices_begin = static_cast<int>(begin);
    c.devices_count = needed;
  }
  ForgetNodesUnlessFree(view, decision);
}

}  // namespace berth
