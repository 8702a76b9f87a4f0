#include "baselines/slurm/nodes.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/plain_text.hpp"

namespace berth {
namespace {

// "n9" before "n10".
bool NaturallyBefore(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const std::size_t i_end = std::min(a.find_first_not_of("0123456789", i), a.size());
    const std::size_t j_end = std::min(b.find_first_not_of("0123456789", j), b.size());
    while (i + 1 < i_end && a[i] == '0') ++i;
    while (j + 1 < j_end && b[j] == '0') ++j;
    if (i_end - i != j_end - j) return i_end - i < j_end - j;
    const int order = a.compare(i, i_end - i, b, j, j_end - j);
    if (order != 0) return order < 0;
    i = i_end, j = j_end;
  }
  return a.size() - i < b.size() - j;
}

// GPUs in service that are idle, of each type, add up to those that the view offers: every device is the
// scheduler's.
bool OwnsDevices(const ClusterView& view) {
  for (int type = 0; type < view.num_types(); ++type) {
    const int first = view.first_device(type), count = view.cluster().types[U(type)].count;
    int free = 0;
    for (int device = first; device < first + count; ++device) free += view.DeviceFree(device) ? 1 : 0;
    if (free != view.free_gpus()[U(type)]) return false;
  }
  return true;
}

}  // namespace

std::vector<SlurmTake> SpreadGang(int gang, std::span<const int> free, std::span<const double> weights) {
  struct Run {
    std::vector<int> nodes;
    int gpus;
    double weight;
  };
  std::vector<Run> runs;
  const auto offer = [&](int n) { return gang == 1 ? std::min(free[U(n)], 1) : free[U(n)]; };
  for (int n = 0; n < static_cast<int>(free.size()); ++n) {
    if (offer(n) <= 0) continue;
    if (runs.empty() || runs.back().nodes.back() + 1 != n || runs.back().weight != weights[U(n)])
      runs.push_back({{}, 0, weights[U(n)]});
    runs.back().nodes.push_back(n);
    runs.back().gpus += offer(n);
  }
  std::vector<SlurmTake> takes;
  for (int left = gang; left > 0;) {
    const auto better = [&](const Run& a, const Run& b) {
      if (a.weight != b.weight) return a.weight < b.weight;
      if ((a.gpus >= left) != (b.gpus >= left)) return a.gpus >= left;
      return a.gpus >= left ? a.gpus < b.gpus : a.gpus > b.gpus;
    };
    const auto best = std::min_element(runs.begin(), runs.end(), better);
    if (best == runs.end()) return {};
    std::vector<int> from = std::move(best->nodes);
    runs.erase(best);
    const auto alone = [&](int n) { return takes.empty() && offer(n) >= gang; };
    const auto tighter = [&](int a, int b) {
      return alone(a) != alone(b) ? alone(a) : alone(a) && offer(a) < offer(b);
    };
    const int tight = *std::min_element(from.begin(), from.end(), tighter);
    if (alone(tight)) from.assign(1, tight);
    std::stable_sort(from.begin(), from.end(), [&](int a, int b) { return offer(a) > offer(b); });
    for (std::size_t i = 0; i < from.size() && left > 0; ++i) {
      takes.push_back({from[i], std::min(left, offer(from[i]))});
      left -= takes.back().gpus;
    }
  }
  return takes;
}

void SlurmNodeTable::AddNodes(const ClusterView& view, const SlurmSettings& settings, bool flat) {
  nodes_.clear();
  flat_ = flat;
  std::vector<std::pair<int, int>> named;  // number in slurm.conf, first device
  std::map<std::string, std::vector<int>> declared;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i)
    declared[Lower(settings.nodes[i].type)].push_back(static_cast<int>(i));
  std::vector<std::pair<Node, int>> all;  // and the node's number in slurm.conf, -1 = none
  for (int type = 0; type < view.num_types(); ++type) {
    const GpuType& gpu = view.cluster().types[U(type)];
    const int size = flat ? std::max(gpu.count, 1) : std::max(gpu.gpus_per_node, 1);
    const auto its = declared.find(Lower(gpu.name));
    int number = 0;
    for (int first = 0; first < gpu.count; first += size, ++number) {
      const bool known = its != declared.end() && !flat && U(number) < its->second.size();
      const int conf = known ? its->second[U(number)] : -1;
      const double weight = conf >= 0 ? settings.node_weights[U(conf)] : 1.0;
      all.push_back(
          {{type, view.first_device(type) + first, std::min(size, gpu.count - first), weight}, conf});
    }
    if (settings.nodes.empty() || flat) continue;
    const int nodes = its == declared.end() ? 0 : static_cast<int>(its->second.size());
    const int per_node = nodes == 0 ? 0 : settings.nodes[U(its->second[0])].gpus;
    if (nodes != number || (number > 0 && per_node != size)) {
      throw Error(Join("slurm: parameter 'conf': ", nodes, " nodes of ", per_node, " GPUs of type ", gpu.name,
                       " in slurm.conf, expected those of the cluster: ", number, " of ", size));
    }
  }
  if (!settings.nodes.empty() && !flat) {
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return NaturallyBefore(settings.nodes[U(a.second)].name, settings.nodes[U(b.second)].name);
    });
  }
  in_partition_.assign(settings.partitions.size(),
                       std::vector<char>(all.size(), settings.nodes.empty() || flat ? 1 : 0));
  std::map<int, std::size_t> at;  // by number in slurm.conf
  for (std::size_t i = 0; i < all.size(); ++i) {
    nodes_.push_back(all[i].first);
    at[all[i].second] = i;
  }
  for (std::size_t p = 0; p < settings.partitions.size() && !settings.nodes.empty() && !flat; ++p) {
    for (int node : settings.partitions[p].nodes) in_partition_[p][at[node]] = 1;
  }
  types_.clear();
  std::vector<int> by_weight(nodes_.size());
  std::iota(by_weight.begin(), by_weight.end(), 0);
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](int a, int b) { return nodes_[U(a)].weight < nodes_[U(b)].weight; });
  for (const int n : by_weight) {
    if (std::find(types_.begin(), types_.end(), TypeOf(n)) == types_.end()) types_.push_back(TypeOf(n));
  }
  sizes_.assign(U(view.num_types()), {});
  for (const Node& node : nodes_) sizes_[U(node.type)].push_back(node.gpus);
  for (std::vector<int>& sizes : sizes_) std::sort(sizes.rbegin(), sizes.rend());
  of_device_.assign(U(view.num_gpus()), -1);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (int d = nodes_[n].first; d < nodes_[n].first + nodes_[n].gpus; ++d) {
      if (U(d) >= of_device_.size()) of_device_.resize(U(d) + 1, -1);
      of_device_[U(d)] = static_cast<int>(n);
    }
  }
}

bool SlurmNodeTable::TypesAreNodes(const ClusterView& view) {
  limits_.Begin(view);
  return view.divides_gpus() || limits_.limited() || !OwnsDevices(view);
}

void SlurmNodeTable::Reset(const ClusterView& view, const SlurmSettings& settings) {
  settings_ = &settings;
  AddNodes(view, settings, TypesAreNodes(view));
}

void SlurmNodeTable::Observe(const ClusterView& view) {
  const bool flat = TypesAreNodes(view);
  if (flat != flat_) AddNodes(view, *settings_, flat);
  free_.assign(nodes_.size(), 0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (flat_) {
      free_[n] = view.free_gpus()[U(nodes_[n].type)];
      continue;
    }
    for (int d = nodes_[n].first; d < nodes_[n].first + nodes_[n].gpus; ++d)
      free_[n] += view.DeviceFree(d) ? 1 : 0;
  }
}

std::vector<SlurmTake> SlurmNodeTable::Held(const ClusterView& view, int job) const {
  std::vector<SlurmTake> held;
  for (int device : view.Devices(job)) {
    if (!view.InService(device)) continue;
    const int node = of_device_[U(device)];
    const auto at =
        std::find_if(held.begin(), held.end(), [&](const SlurmTake& take) { return take.node == node; });
    if (at != held.end())
      ++at->gpus;
    else
      held.push_back({node, 1});
  }
  return held;
}

int SlurmNodeTable::GpusIn(const ClusterView& view, int partition) const {
  int gpus = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const bool whole = view.cluster().types[U(nodes_[n].type)].part.whole < 0;
    if (whole && in_partition_[U(partition)][n] != 0) gpus += nodes_[n].gpus;
  }
  return gpus;
}

int SlurmNodeTable::NodesFor(int gang, int type) const {
  int held = 0, needed = 0;
  for (int size : sizes_[U(type)]) {
    if (held >= gang) break;
    held += size, ++needed;
  }
  return needed;
}

// As select/cons_tres does without a topology: nodes of the least weight first; of runs of neighbours that
// hold the job alone the one with the least free on it, from its first node on.
bool SlurmNodeTable::ChooseOn(int type, int gang, std::span<const int> free, std::span<const char> may,
                              std::vector<SlurmTake>& takes) {
  const int needed = NodesFor(gang, type);
  int room = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].type == type && may[n] != 0) room += std::max(0, free[n]);
  }
  if (room < gang) return false;
  // Each of its nodes but the last gives as much as the others.
  const int each = needed > 1 ? (gang + needed - 1) / needed : gang;
  struct Run {
    std::size_t begin, end;
    int nodes, gpus;
    double weight;
  };
  const auto usable = [&](std::size_t n, int least) {
    return nodes_[n].type == type && may[n] != 0 && free[n] >= least;
  };
  for (const int least : {each, needed > 1 ? 1 : each}) {
    std::vector<Run> runs;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (!usable(n, least)) continue;
      const bool goes_on = !runs.empty() && runs.back().end == n && runs.back().weight == nodes_[n].weight;
      if (!goes_on) runs.push_back({n, n, 0, 0, nodes_[n].weight});
      runs.back().end = n + 1;
      ++runs.back().nodes;
      runs.back().gpus += free[n];
    }
    const auto take = [&](std::vector<std::size_t> from, std::vector<SlurmTake>& into) {
      into.clear();
      int left = gang;
      // The emptiest first where nodes cannot give alike.
      if (least < each)
        std::stable_sort(from.begin(), from.end(),
                         [&](std::size_t a, std::size_t b) { return free[a] > free[b]; });
      for (std::size_t n : from) {
        const int gpus = std::min({left, free[n], least < each ? left : each});
        if (gpus == 0) continue;
        into.push_back({static_cast<int>(n), gpus});
        left -= gpus;
        if (left == 0) break;
      }
      return left == 0 && static_cast<int>(into.size()) <= needed;
    };
    const Run* best = nullptr;
    for (const Run& run : runs) {
      if (run.nodes < needed || run.gpus < gang) continue;
      if (best == nullptr || run.weight < best->weight ||
          (run.weight == best->weight && run.nodes < best->nodes))
        best = &run;
    }
    std::vector<std::size_t> from;
    if (best != nullptr) {
      for (std::size_t n = best->begin; n < best->end; ++n) from.push_back(n);
      if (take(from, takes)) return true;
    }
    from.clear();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (usable(n, least)) from.push_back(n);
    }
    if (take(from, takes)) return true;
    if (needed == 1) break;
  }
  takes.clear();
  return false;
}

bool SlurmNodeTable::ChooseSpread(int type, int gang, std::span<const int> free, std::span<const char> may,
                                  std::vector<SlurmTake>& takes) {
  offered_.assign(nodes_.size(), 0);
  weights_.resize(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].type == type && may[n] != 0) offered_[n] = std::max(0, free[n]);
    weights_[n] = nodes_[n].weight;
  }
  takes = SpreadGang(gang, offered_, weights_);
  return !takes.empty();
}

// As ChooseOn, for a gang that one node holds, of any type.
int SlurmNodeTable::ChooseNode(const ClusterView& view, int job, std::span<const int> free,
                               std::span<const char> may) const {
  int best = -1, best_count = 0;
  double best_weight = 0.0;
  for (std::size_t begin = 0, end = 0; begin < nodes_.size(); begin = end) {
    const auto usable = [&](std::size_t n) {
      return may[n] != 0 && free[n] >= view.Gang(job) && view.Rate(job, nodes_[n].type) > 0.0;
    };
    end = begin + 1;
    if (!usable(begin)) continue;
    int count = 1;
    for (; end < nodes_.size() && usable(end) && nodes_[end].weight == nodes_[begin].weight; ++end) ++count;
    const double weight = nodes_[begin].weight;
    if (best >= 0 && (weight > best_weight || (weight == best_weight && count >= best_count))) continue;
    best = static_cast<int>(begin), best_count = count, best_weight = weight;
  }
  return best;
}

bool SlurmNodeTable::Choose(const ClusterView& view, int job, std::span<const int> free,
                            std::span<const char> may, std::vector<SlurmTake>& takes) {
  const bool spread = settings_->spread;
  const int alone = spread ? -1 : ChooseNode(view, job, free, may);
  if (alone >= 0) {
    takes.assign(1, {alone, view.Gang(job)});
    return true;
  }
  // Types in the order in which their nodes stand; of two that hold it the one whose first chosen node is of
  // less weight, then the fuller.
  std::vector<SlurmTake> found;
  takes.clear();
  double best_weight = 0.0;
  int best_free = 0;
  std::uint64_t seen = 0;  // bits of types
  for (const Node& node : nodes_) {
    const std::uint64_t bit = std::uint64_t{1} << node.type;
    if ((seen & bit) != 0) continue;
    seen |= bit;
    // What one node holds, ChooseNode would have found.
    const int gang = view.Gang(job);
    if (view.Rate(job, node.type) <= 0.0 ||
        (!spread && !sizes_[U(node.type)].empty() && gang <= sizes_[U(node.type)][0]) ||
        !(spread ? ChooseSpread(node.type, gang, free, may, found)
                 : ChooseOn(node.type, gang, free, may, found)))
      continue;
    const double weight = nodes_[U(found[0].node)].weight;
    const int left = spread ? 0 : free[U(found[0].node)];
    if (takes.empty() || weight < best_weight || (weight == best_weight && left < best_free)) {
      takes = found, best_weight = weight, best_free = left;
    }
  }
  return !takes.empty();
}

void SlurmNodeTable::DevicesFor(const ClusterView& view, const std::vector<SlurmTake>& takes,
                                const std::vector<char>& freed, std::vector<char>& taken,
                                std::vector<int>& devices) const {
  devices.clear();
  if (flat_) return;
  for (const SlurmTake& take : takes) {
    const Node& node = nodes_[U(take.node)];
    int left = take.gpus;
    for (int d = node.first; d < node.first + node.gpus && left > 0; ++d) {
      if (taken[U(d)] != 0 || (!view.DeviceFree(d) && freed[U(d)] == 0)) continue;
      taken[U(d)] = 1;
      devices.push_back(d);
      --left;
    }
    BERTH_CHECK(left == 0, "node ", take.node, " lacks ", left, " GPUs");
  }
}

}  // namespace berth
