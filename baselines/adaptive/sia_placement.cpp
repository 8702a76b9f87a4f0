#include "baselines/adaptive/sia_placement.hpp"

#include <algorithm>
#include <cstddef>

#include "env/base/check.hpp"

namespace berth::sia {
namespace {

// Takes the GPUs of one job and moves the pointer on; enough are free.
std::vector<NodeGpus> Take(int gpus, int whole, std::vector<int>& free, std::size_t& pointer) {
  std::vector<NodeGpus> taken;
  const auto take = [&](int wanted) {
    free[pointer] -= wanted, gpus -= wanted;
    if (wanted > 0) taken.push_back({static_cast<int>(pointer), wanted});
  };
  int whole_nodes = gpus / whole;
  for (std::size_t looked = 0; looked < free.size() && whole_nodes > 0; ++looked) {
    if (free[pointer] == whole) take(whole), --whole_nodes;
    pointer = (pointer + 1) % free.size();
  }
  while (gpus > 0) {
    take(std::min(gpus, free[pointer]));
    pointer = (pointer + 1) % free.size();
  }
  return taken;
}

}  // namespace

std::vector<std::vector<NodeGpus>> Place(std::span<const PlacementJob> jobs,
                                         std::vector<std::vector<int>> nodes) {
  const auto types = static_cast<int>(nodes.size());
  for (int type = 0; type < types; ++type) {
    for (int gpus : nodes[static_cast<std::size_t>(type)]) {
      if (gpus < 0)
        throw Error(Join("sia: nodes of type ", type, ": expected at least 0 GPUs, found ", gpus));
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (jobs[job].type >= types || jobs[job].type < -1)
      throw Error(
          Join("sia: job ", job, ": expected a type below ", types, " or -1, found ", jobs[job].type));
    if (jobs[job].gpus < 0)
      throw Error(Join("sia: job ", job, ": expected at least 0 GPUs, found ", jobs[job].gpus));
    if (jobs[job].type >= 0 && jobs[job].gpus > 0) order.push_back(job);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].gpus > jobs[b].gpus; });
  std::vector<std::vector<NodeGpus>> placed(jobs.size());
  for (int type = 0; type < types; ++type) {
    std::vector<int>& free = nodes[static_cast<std::size_t>(type)];
    int left = 0;
    for (int gpus : free) left += gpus;
    const int whole = free.empty() ? 0 : *std::max_element(free.begin(), free.end());
    std::size_t pointer = 0;
    for (const std::size_t job : order) {
      if (jobs[job].type != type) continue;
      if (jobs[job].gpus > left)
        throw Error(Join("sia: job ", job, " is to be placed on ", jobs[job].gpus, " GPUs of type ", type,
                         ", where ", left, " are left"));
      left -= jobs[job].gpus;
      placed[job] = Take(jobs[job].gpus, whole, free, pointer);
    }
  }
  return placed;
}

}  // namespace berth::sia
