#include "tools/reproduce/fgd/allocation.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::fgd {
namespace {

constexpr double kCovered = 0.95;  // of all pods by the typical ones (the authors' podPopularityThreshold)

bool Allowed(std::uint64_t models, int model) {
  return models == 0 || (models >> model & 1) != 0;
}

}  // namespace

Pod PodOf(const OpenbPod& pod) {
  return {pod.cpu_milli, pod.memory_mib, pod.gpus, pod.gpu_milli, pod.models};
}

Node NodeOf(const OpenbNode& from) {
  BERTH_CHECK(from.gpus <= kMostGpus, "node ", from.name, " has ", from.gpus, " GPUs");
  Node node;
  node.cpu = from.cpu_milli, node.memory = from.memory_mib;
  node.gpus = from.gpus, node.model = std::max(from.model, 0);
  for (int i = 0; i < node.gpus; ++i) node.left[U(i)] = kWhole;
  return node;
}

int Node::TotalLeft() const {
  int total = 0;
  for (int i = 0; i < gpus; ++i) total += left[U(i)];
  return total;
}

int Node::Idle() const {
  int idle = 0;
  for (int i = 0; i < gpus; ++i) idle += left[U(i)] == kWhole;
  return idle;
}

int AffinityOf(const Pod& pod) {
  return pod.gpus == 0 ? 0 : pod.Shares() ? 1 : 1 + pod.gpus;
}

bool Fits(const Node& node, const Pod& pod) {
  if (node.cpu < pod.cpu || node.memory < pod.memory) return false;
  if (pod.gpus == 0) return true;
  if (!Allowed(pod.models, node.model)) return false;
  int enough = 0;
  for (int i = 0; i < node.gpus; ++i) enough += node.left[U(i)] >= pod.milli;
  return enough >= pod.gpus;
}

void Place(Node& node, const Pod& pod, int gpu) {
  BERTH_DCHECK(Fits(node, pod), pod.gpus, " GPUs of ", pod.milli);
  node.cpu -= pod.cpu;
  node.memory -= pod.memory;
  ++node.pods_of_affinity[U(AffinityOf(pod))];
  if (pod.Shares()) {
    node.left[U(gpu)] -= pod.milli;
    return;
  }
  int needed = pod.gpus;
  for (int i = 0; i < node.gpus && needed > 0; ++i) {
    if (node.left[U(i)] == kWhole) node.left[U(i)] = 0, --needed;
  }
}

std::vector<TypicalPod> TypicalPods(std::span<const Pod> pods, Stream& random) {
  using Key = std::tuple<int, int, int, std::uint64_t>;
  std::map<Key, int> count;
  for (const Pod& pod : pods) ++count[{pod.cpu, pod.gpus, pod.milli, pod.models}];
  std::vector<std::pair<int, Key>> by_count;
  for (const auto& [key, n] : count) by_count.emplace_back(n, key);
  Shuffle(by_count, random);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<TypicalPod> typical;
  double covered = 0.0;
  for (const auto& [n, key] : by_count) {
    if (covered >= kCovered * static_cast<double>(pods.size())) break;
    const auto& [cpu, gpus, milli, models] = key;
    typical.push_back({{cpu, 0, gpus, milli, models}, static_cast<double>(n)});
    covered += n;
  }
  for (TypicalPod& pod : typical) pod.frequency /= covered;
  return typical;
}

Fragmentation::Fragmentation(std::span<const TypicalPod> pods) {
  std::map<std::tuple<int, int, std::uint64_t>, std::map<int, double>> by_gpus;
  for (const TypicalPod& typical : pods) {
    const Pod& pod = typical.pod;
    if (pod.gpus == 0) {
      without_gpu_ += typical.frequency;
    } else {
      by_gpus[{pod.gpus, pod.milli, pod.models}][pod.cpu] += typical.frequency;
    }
  }
  for (const auto& [key, by_cpu] : by_gpus) {
    Group group{std::get<0>(key), std::get<1>(key), std::get<2>(key), 0.0, {}, {}};
    for (const auto& [cpu, frequency] : by_cpu) {
      group.frequency += frequency;
      group.cpu.push_back(cpu);
      group.cumulative.push_back(group.frequency);
    }
    groups_.push_back(std::move(group));
  }
}

double Fragmentation::Of(const Node& node) const {
  const int total = node.TotalLeft();
  if (total == 0) return 0.0;
  double unusable = without_gpu_ * total;
  for (const Group& group : groups_) {
    double hosted = 0.0;  // frequency of the group's pods that fit
    int enough = 0, too_small = 0;
    if (Allowed(group.models, node.model)) {
      for (int i = 0; i < node.gpus; ++i) {
        const int left = node.left[U(i)];
        left >= group.milli ? void(++enough) : void(too_small += left);
      }
      if (enough >= group.gpus) {
        const auto above = std::upper_bound(group.cpu.begin(), group.cpu.end(), node.cpu);
        if (above != group.cpu.begin()) hosted = group.cumulative[U(int(above - group.cpu.begin()) - 1)];
      }
    }
    unusable += hosted * too_small + (group.frequency - hosted) * total;
  }
  return unusable;
}

}  // namespace berth::fgd
