// nodes: the nodes of the cluster as entities: what is idle on each, what leaves, and when room comes free.
// What the features that are on know of devices they are asked by neutral queries (env/sim/feature.hpp).
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/block_table.hpp"
#include "env/sim/entity_rows.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/in_service.hpp"

namespace berth {
namespace {

constexpr ParamInfo kNodesParams[] = {
    {"most", "16",
     "nodes with a row of their own, 1 to 1024: partly idle ones first, then idle ones, then full ones, then "
     "those without a device in service; within these by number"},
};
constexpr ChannelInfo kNode[] = {
    {"node", "1 = the row is a node's, or that of all further nodes", 0, 1},
    {"nodes", kEntityCountMeaning, 0, 2},
    {"size", "log2(1 + its GPUs) / 5", 0, 4},
    {"speed", "mean speed (rate over best rate) of the candidates on its GPU type", 0, 1},
    {"idle", "idle share of its devices in service", 0, 1},
    {"whole", "1 = all of it is in service and idle", 0, 1},
    {"missing", "share of its GPUs that are not in service", 0, 1},
    {"leaves", "share of its GPUs that are announced to leave", 0, 1},
    {"notice", "ln(1 + time until the first of them leaves / 60 s) / 10; 0 = none is announced", 0, 2},
    {"rack_idle", "idle share of its rack, or of the cluster where there are no racks", 0, 1},
    {"network", "ln(1 + GB/s between nodes) / 5; 0 = nothing is stated", 0, 2},
    {"jobs", "ln(1 + jobs on it) / 3", 0, 4},
    {"spread", "its devices held by jobs that are on other nodes too, over its GPUs, at most 1", 0, 1},
    {"parted", "share of its GPUs that are held in parts", 0, 1},
    {"first_end",
     "ln(1 + time until the first job there ends, as it runs / 60 s) / 10; 0 when blind or without jobs", 0,
     2},
    {"slowed", "1 - mean clock of its devices over the highest", 0, 1},
    {"watts", "watts of its devices over their peak; 0 = nothing is stated", 0, 2},
    {"heat", "C of its hottest device / 100; 0 = nothing is stated", 0, 2},
};
constexpr std::size_t kNodeChannels = std::size(kNode);

class Nodes final : public EntityBlock {
 public:
  Nodes(int most, const BlockSetup& setup)
      : EntityBlock(most), sighted_(setup.knowledge >= Knowledge::kEstimate) {}

  void Begin(const ClusterView& view) override {
    const std::span<const GpuType> types = view.cluster().types;
    node_of_.clear(), gpu_of_.clear(), nodes_.clear();
    for (std::size_t g = 0; g < types.size(); ++g) {
      const int whole = types[g].part.whole < 0 ? static_cast<int>(g) : types[g].part.whole;
      const int each = types[g].count > 0 ? types[g].count / types[U(whole)].count : 1;
      for (int k = 0; k < types[g].count; ++k) {
        const int device = view.first_device(static_cast<int>(g)) + k, node = view.NodeOf(device);
        if (nodes_.size() <= U(node)) nodes_.resize(U(node) + 1);
        Node& it = nodes_[U(node)];
        if (it.type < 0) it.type = static_cast<int>(g);  // of slices of its GPUs come later
        it.gpus += it.type == static_cast<int>(g);
        node_of_.push_back(node);
        gpu_of_.push_back(view.first_device(whole) + k / each);
      }
    }
    int per_rack = 0;
    network_ = 0.0;
    for (const Features::On& on : view.features().on()) {
      per_rack = std::max(per_rack, on.settings->NodesPerRack());
      network_ = std::max(network_, on.settings->NetworkGbPerS());
    }
    int in_type = 0, racks = per_rack > 0 ? 0 : 1;  // nodes of a rack are of one type (MakeLayout)
    for (std::size_t n = 0; n < nodes_.size(); ++n, ++in_type) {
      if (n > 0 && nodes_[n].type != nodes_[n - 1].type) in_type = 0;
      if (per_rack > 0 && in_type % per_rack == 0) ++racks;
      nodes_[n].rack = racks - 1;
    }
    racks_.resize(U(racks));
    order_.resize(nodes_.size());
    speed_.resize(types.size());
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    Count(view);
    Speeds(input);
    Sort();
    WriteEntities(out.entities, most_, nodes_.size(), kNodeChannels, /*edges=*/0, scratch_,
                  [&](std::size_t i, float* f) { WriteOne(view, nodes_[U(order_[i])], f); });
  }

 private:
  struct Now {
    int in_service = 0, idle = 0, jobs = 0, spread = 0, devices = 0;
    int gpus = 0, leaving = 0,
        parted = 0;     // GPUs: in service as a whole or in slices; any part of which is so
    int last_job = -1;  // that was counted
    double leaves_at = kNever, first_end = kNever, clock = 0.0, watts = 0.0, heat = 0.0;
  };
  struct Node {
    int type = -1, gpus = 0, rack = 0;
    Now now = {};
  };
  struct Rack {
    int in_service = 0, idle = 0;
  };

  void Count(const ClusterView& view) {
    for (Node& node : nodes_) node.now = {};
    counted_.assign(node_of_.size(), 0);
    const auto first = [&](int device, std::uint8_t what) {  // that is so of its GPU
      std::uint8_t& counted = counted_[U(gpu_of_[U(device)])];
      const bool is_new = (counted & what) == 0;
      counted |= what;
      return is_new ? 1 : 0;
    };
    const auto devices = static_cast<int>(node_of_.size());
    const FeatureStates& features = view.feature_states();
    for (int device = 0; device < devices; ++device) {
      Now& now = nodes_[U(node_of_[U(device)])].now;
      ++now.devices;
      if (!view.PartHolders(device).empty()) now.parted += first(device, kSeenParted);
      double clock = 1.0;
      if (!features.empty()) {
        for (const FeatureState& feature : features.Of(Hook::kClockSpeed))
          clock *= feature.ClockSpeed(device);
        for (const FeatureState& feature : features.Of(Hook::kPowerShare))
          now.watts += feature.PowerShare(device);
        for (const FeatureState& feature : features.Of(Hook::kDegreesC))
          now.heat = std::max(now.heat, feature.DegreesC(device, view.now()));
        const double leaves_at = LeavesAt(view, device);
        if (leaves_at < kNever) now.leaving += first(device, kSeenLeaving);
        now.leaves_at = std::min(now.leaves_at, leaves_at);
      }
      now.clock += clock;
      // One that is announced to leave takes nobody new and works on.
      if (!view.InService(device)) continue;
      ++now.in_service;
      now.gpus += first(device, kSeenInService);
      now.idle += view.DeviceFree(device) && view.PartHolders(device).empty();
    }
    for (const int job : view.running()) CountJob(view, job);
    std::fill(racks_.begin(), racks_.end(), Rack{});
    for (const Node& node : nodes_) {
      racks_[U(node.rack)].in_service += node.now.in_service;
      racks_[U(node.rack)].idle += node.now.idle;
    }
  }

  void CountJob(const ClusterView& view, int job) {
    const std::span<const int> devices = view.Devices(job);
    if (devices.empty()) return;
    const double left = sighted_ ? view.RemainingSeconds(job, view.TypeOf(job)) : kNever;
    const bool one = std::all_of(devices.begin(), devices.end(), [&](int device) {
      return node_of_[U(device)] == node_of_[U(devices.front())];
    });
    for (const int device : devices) {
      Now& now = nodes_[U(node_of_[U(device)])].now;
      now.jobs += now.last_job != job;
      now.spread += !one;
      now.first_end = std::min(now.first_end, left);
      now.last_job = job;
    }
  }

  void Speeds(const ObservationInput& input) {
    std::fill(speed_.begin(), speed_.end(), 0.0);
    for (const int job : input.candidates) {
      const std::span<const double> rates = input.view.Rates(job);
      for (std::size_t g = 0; g < speed_.size(); ++g) speed_[g] += rates[g] / input.view.BestRate(job);
    }
    for (double& speed : speed_) speed /= std::max(1.0, static_cast<double>(input.candidates.size()));
  }

  void Sort() {
    const auto rank = [&](int node) {
      const Now& now = nodes_[U(node)].now;
      return now.in_service == 0 ? 3 : now.idle == 0 ? 2 : now.idle == now.in_service ? 1 : 0;
    };
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return rank(a) < rank(b); });
  }

  void WriteOne(const ClusterView& view, const Node& node, float* f) const {
    const Now& now = node.now;
    const auto share = [](int part, int of) {
      return of > 0 ? static_cast<float>(part) / static_cast<float>(of) : 0.0F;
    };
    const Rack& rack = racks_[U(node.rack)];
    f[2] = static_cast<float>(Log2(1.0 + node.gpus) / 5.0);
    f[3] = static_cast<float>(speed_[U(node.type)]);
    f[4] = share(now.idle, now.in_service);
    f[5] = now.gpus == node.gpus && now.idle == now.in_service ? 1.0F : 0.0F;
    f[6] = 1.0F - share(now.gpus, node.gpus);
    f[7] = share(now.leaving, node.gpus);
    f[8] = now.leaves_at < kNever ? LogMinutes(now.leaves_at - view.now()) : 0.0F;
    f[9] = share(rack.idle, rack.in_service);
    f[10] = static_cast<float>(Log(1.0 + network_) / 5.0);
    f[11] = static_cast<float>(Log(1.0 + now.jobs) / 3.0);
    f[12] = std::min(1.0F, share(now.spread, node.gpus));
    f[13] = share(now.parted, node.gpus);
    f[14] = now.first_end < kNever ? LogMinutes(now.first_end) : 0.0F;
    f[15] = static_cast<float>(1.0 - now.clock / now.devices);
    f[16] = static_cast<float>(now.watts / now.devices);
    f[17] = static_cast<float>(now.heat / 100.0);
  }

  bool sighted_;
  double network_ = 0.0;
  static constexpr std::uint8_t kSeenInService = 1, kSeenLeaving = 2, kSeenParted = 4;
  std::vector<int> node_of_, gpu_of_;  // [D] the GPU by its whole device
  std::vector<std::uint8_t> counted_;  // [D] what was counted of a GPU
  std::vector<Node> nodes_;            // [N]
  std::vector<Rack> racks_;
  std::vector<int> order_;     // [N]
  std::vector<double> speed_;  // [G]
};

}  // namespace

BlockInfo NodesBlock() {
  BlockInfo info{"nodes", 1, "entities: nodes, what is idle on them, what leaves and when room comes free"};
  info.params = kNodesParams;
  info.entity = kNode;
  info.make = MakeEntityBlock<Nodes>;
  return info;
}

}  // namespace berth
