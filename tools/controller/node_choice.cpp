#include "tools/controller/node_choice.hpp"

#include <algorithm>
#include <map>

#include "env/base/index.hpp"

namespace berth {
namespace {

std::vector<int> FreeOn(const LiveCluster& live, int node) {
  std::vector<int> free;
  for (int k = 0; k < live.nodes()[U(node)].gpus; ++k) {
    if (live.Holder(live.FirstDevice(node) + k) == LiveCluster::kNobody)
      free.push_back(live.FirstDevice(node) + k);
  }
  return free;
}

// Of a node, for `count` of the job's GPUs there.
int CpusFor(const SlurmJob& asks, int count) {
  if (asks.per_node == 0) return (asks.all_cpus() * count + asks.gpus - 1) / asks.gpus;
  const int nodes = std::max(1, asks.gpus / asks.per_node);
  return (asks.all_cpus() + nodes - 1) / nodes;
}

std::optional<std::vector<int>> Choose(const LiveCluster& live, int job, int type,
                                       std::span<const int> wanted, std::span<const std::string> refused,
                                       std::vector<int>& idle_cpus) {
  const SlurmJob& asks = live.job(job).slurm;
  struct Room {
    int node;
    std::vector<int> free;
  };
  std::vector<Room> rooms;
  const int nodes = asks.least_nodes();
  for (std::size_t n = 0; n < live.nodes().size(); ++n) {
    const auto node = static_cast<int>(n);
    if (live.TypeOfNode(node) != type || (asks.per_node > 0 && idle_cpus[n] < CpusFor(asks, asks.per_node)))
      continue;
    if (asks.user_named() &&
        std::find(asks.required.begin(), asks.required.end(), live.nodes()[n].name) == asks.required.end())
      continue;
    if (std::ranges::count(refused, live.nodes()[n].name) > 0) continue;
    std::vector<int> free = FreeOn(live, node);
    // As they come, GPUs bring their share of the job's CPUs.
    if (asks.per_node == 0 && asks.all_cpus() > 0)
      free.resize(std::min(free.size(), U(std::max(0, idle_cpus[n]) * asks.gpus / asks.all_cpus())));
    if (!free.empty()) rooms.push_back({node, std::move(free)});
  }
  std::ranges::stable_partition(rooms, [&](const Room& room) { return !live.nodes()[U(room.node)].asleep; });
  std::vector<int> chosen;
  const auto take = [&](const Room& room, int count) {
    chosen.insert(chosen.end(), room.free.begin(), room.free.begin() + count);
    idle_cpus[U(room.node)] -= CpusFor(asks, count);
  };
  std::map<int, int> on_node;
  for (const int device : wanted) ++on_node[live.NodeOf(device)];
  const auto on = static_cast<int>(on_node.size());
  // Where it is not known on how many it may, on as few as there can be.
  const bool may = on >= nodes && asks.on_at_most(on) && (asks.nodes_said || on == nodes);
  if (static_cast<int>(wanted.size()) == asks.gpus && may) {
    const bool usable = std::all_of(wanted.begin(), wanted.end(), [&](int device) {
      const auto room = std::find_if(rooms.begin(), rooms.end(),
                                     [&](const Room& r) { return r.node == live.NodeOf(device); });
      const int count = on_node[live.NodeOf(device)];
      return room != rooms.end() && !live.nodes()[U(room->node)].asleep &&
             static_cast<int>(room->free.size()) >= count && (asks.per_node == 0 || count == asks.per_node);
    });
    if (usable) {
      for (const Room& room : rooms) {
        if (on_node.contains(room.node)) take(room, on_node[room.node]);
      }
      return chosen;
    }
  }
  const auto fuller = [](const Room& a, const Room& b) { return a.free.size() < b.free.size(); };
  const auto emptier = [](const Room& a, const Room& b) { return a.free.size() > b.free.size(); };
  const int each = asks.per_node > 0 ? asks.per_node : (nodes <= 1 ? asks.gpus : 0);
  if (each > 0) {
    std::stable_sort(rooms.begin(), rooms.end(), fuller);
    std::vector<const Room*> fit;
    for (const Room& room : rooms) {
      if (static_cast<int>(room.free.size()) >= each && static_cast<int>(fit.size()) * each < asks.gpus)
        fit.push_back(&room);
    }
    if (static_cast<int>(fit.size()) * each >= asks.gpus) {
      for (const Room* room : fit) take(*room, each);
      return chosen;
    }
    if (asks.per_node > 0) return std::nullopt;
  }
  std::stable_sort(rooms.begin(), rooms.end(), emptier);
  const auto spread = [&](const std::vector<Room>& over) {
    int left = asks.gpus, used = 0;
    for (; used < static_cast<int>(over.size()) && (left > 0 || used < nodes); ++used)
      left -= static_cast<int>(over[U(used)].free.size());
    if (left > 0 || used < nodes || !asks.on_at_most(used)) return false;
    left = asks.gpus;
    for (int i = 0; i < used; ++i) {  // at least one of each
      const int count = std::min(left - (used - i - 1), static_cast<int>(over[U(i)].free.size()));
      take(over[U(i)], count), left -= count;
    }
    return true;
  };
  // Who sleeps is the emptiest: none is woken where those that are awake have room.
  std::vector<Room> awake = rooms;
  std::erase_if(awake, [&](const Room& room) { return live.nodes()[U(room.node)].asleep; });
  return spread(awake) || spread(rooms) ? std::optional(chosen) : std::nullopt;
}

}  // namespace

std::optional<std::vector<int>> ChooseGpus(const LiveCluster& live, int job, int type,
                                           std::span<const int> wanted, std::vector<int>& idle_cpus) {
  // Where Slurm refused it something is missing that is not looked at, memory for one.
  const std::vector<std::string>& refused = live.job(job).refused_nodes;
  std::optional<std::vector<int>> chosen = Choose(live, job, type, wanted, refused, idle_cpus);
  if (!chosen && !refused.empty()) chosen = Choose(live, job, type, wanted, {}, idle_cpus);
  return chosen;
}

void FreeCpus(const LiveCluster& live, int job, std::vector<int>& idle_cpus) {
  std::map<int, int> on_node;
  for (const int device : live.job(job).devices) ++on_node[live.NodeOf(device)];
  for (const auto& [node, count] : on_node) idle_cpus[U(node)] += CpusFor(live.job(job).slurm, count);
}

std::vector<std::string> NodesOf(const LiveCluster& live, std::span<const int> devices) {
  std::vector<std::string> names;
  for (const int device : devices) {
    const std::string& name = live.nodes()[U(live.NodeOf(device))].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace berth
