#include "env/features/topology/placement.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Nodes {
  static constexpr ChannelInfo kJob[] = {
      {"spread", "1 = it runs on more nodes than it needs", 0, 1},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    const PlacementState* nodes = view.Find<PlacementState>();
    if (!view.IsRunning(job) || nodes == nullptr) return;
    f[0] = nodes->Consolidated(view.TypeOf(job), view.Devices(job)) ? 0.0F : 1.0F;
  }

  static constexpr ChannelInfo kPair[] = {
      {"consolidated", "1 = a start now would take as few nodes as the gang needs", 0, 1},
  };
  static void Pair(const ClusterView& view, int job, int type, float* f) {
    if (view.Rate(job, type) <= 0.0) return;
    const PlacementState* nodes = view.Find<PlacementState>();  // without nodes every start is
    f[0] = nodes == nullptr || nodes->CanConsolidate(job, type, view.Gang(job)) ? 1.0F : 0.0F;
  }

  static constexpr ChannelInfo kGlobal[] = {
      {"fragmentation", "idle devices of no use to the gangs that wait (feature topology)", 0, 1},
  };
  static void Global(const ClusterView& view, float* f) {
    const PlacementState* nodes = view.Find<PlacementState>();
    if (nodes != nullptr) f[0] = static_cast<float>(nodes->fragmentation);
  }
};

}  // namespace

BlockInfo TopologyBlock() {
  return RowBlock<Nodes>::Info("topology", 1, "on how many nodes jobs run, and would");
}

}  // namespace berth
