#include "baselines/adaptive/sia_configurations.hpp"

#include <algorithm>

#include "baselines/adaptive/sia_placement.hpp"
#include "baselines/placement/in_service.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth::sia {

void Configurations::Reset(const ClusterView& view) {
  nodes_.assign(U(view.num_types()), {});
  int last = -1;
  for (int device = 0; device < view.num_gpus(); ++device) {
    auto& of_type = nodes_[U(view.TypeOfDevice(device))];
    if (of_type.empty() || view.NodeOf(device) != last) of_type.emplace_back();
    of_type.back().push_back(device);
    last = view.NodeOf(device);
  }
  list_.clear();
  for (int type = 0; type < view.num_types(); ++type) {
    const int size = view.cluster().types[U(type)].gpus_per_node;
    for (int gpus = 1; gpus < size; gpus *= 2) list_.push_back({type, 1, gpus});
    for (int nodes = 1; nodes <= static_cast<int>(nodes_[U(type)].size()); ++nodes)
      list_.push_back({type, nodes, nodes * size});
  }
}

std::string Configurations::ToString(const ClusterView& view) const {
  std::string text;
  for (const GpuType& type : view.cluster().types) {
    std::string parts;
    for (int gpus = 1; gpus < type.gpus_per_node; gpus *= 2) parts += Join(parts.empty() ? "" : ", ", gpus);
    if (!parts.empty()) parts += " GPUs or ";
    text += Join(text.empty() ? "" : "; ", type.name, ": ", parts, "whole nodes of ", type.gpus_per_node);
  }
  return text;
}

int Configurations::Held(const ClusterView& view, int job) const {
  if (!AllInService(view, job)) return -1;
  for (int k = 0; view.IsRunning(job) && k < static_cast<int>(list_.size()); ++k) {
    if (list_[U(k)].type == view.TypeOf(job) && list_[U(k)].gpus == view.Width(job)) return k;
  }
  return -1;
}

void Configurations::Emit(const ClusterView& view, std::span<const int> jobs, std::span<const int> chosen,
                          Decision& decision) const {
  const auto* settings = view.features().Find<GoodputSettings>();
  const bool anew = settings != nullptr && settings->free_moves();
  std::vector<char> taken(U(view.num_gpus()), 0);
  std::vector<PlacementJob> wanted(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (chosen[i] < 0) continue;
    if (!anew && chosen[i] == Held(view, jobs[i])) {
      for (int device : view.Devices(jobs[i])) taken[U(device)] = 1;
      continue;
    }
    wanted[i] = {list_[U(chosen[i])].type, list_[U(chosen[i])].gpus};
  }
  std::vector<std::vector<int>> free(nodes_.size());
  const auto is_free = [&](int device) { return taken[U(device)] == 0 && view.InService(device); };
  for (std::size_t type = 0; type < nodes_.size(); ++type) {
    for (const std::vector<int>& node : nodes_[type])
      free[type].push_back(static_cast<int>(std::count_if(node.begin(), node.end(), is_free)));
  }
  const auto places = Place(wanted, free);
  std::vector<int> devices;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int job = jobs[i];
    if (chosen[i] < 0) continue;
    if (wanted[i].gpus == 0) continue;
    devices.clear();
    const int type = wanted[i].type;
    for (const NodeGpus& on : places[i]) {
      int left = on.gpus;
      for (int device : nodes_[U(type)][U(on.node)]) {
        if (left == 0) break;
        if (!is_free(device)) continue;
        taken[U(device)] = 1, --left;
        devices.push_back(device);
      }
    }
    if (view.IsRunning(job) && std::ranges::equal(devices, view.Devices(job))) continue;
    view.IsRunning(job) ? decision.Move(job, type, devices) : decision.Start(job, type, devices);
    decision.commands.back().width = static_cast<int>(devices.size());
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (chosen[i] < 0 && view.IsRunning(jobs[i]) && !MayRunOn(view, jobs[i], taken)) decision.Stop(jobs[i]);
  }
  ForgetNodesUnlessFree(view, decision);
}

}  // namespace berth::sia
