#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

// Of the GPUs that have devices of a type: a GPU's own, or those of a slice of it.
struct Slices {
  static constexpr ChannelInfo kType[] = {
      {"sliced", "share of its GPUs in slices; of a slice's type, with such a slice (feature partitions)", 0,
       1},
      {"reconfiguring", "share of its GPUs that change their layout or wait to", 0, 1},
  };
  static void Type(const ClusterView& view, int type, float* f) {
    const PartitionState* state = view.Find<PartitionState>();
    if (state == nullptr) return;
    for (const PartitionGroup& group : state->groups) {
      const auto slice = std::find(group.slice_type.begin(), group.slice_type.end(), type);
      if (group.type != type && slice == group.slice_type.end()) continue;
      const auto profile = static_cast<int>(slice - group.slice_type.begin());
      int sliced = 0, changing = 0;
      for (int gpu = group.first_gpu; gpu < group.first_gpu + group.count; ++gpu) {
        const PartitionState::Gpu& it = state->gpus[U(gpu)];
        const MigLayout& layout = group.layouts[U(it.layout)];
        const auto such = [&](const MigSlice& s) { return group.type == type || s.profile == profile; };
        sliced += std::any_of(layout.begin(), layout.end(), such);
        changing += it.reconfiguring || it.target >= 0;
      }
      f[0] = static_cast<float>(sliced) / static_cast<float>(group.count);
      f[1] = static_cast<float>(changing) / static_cast<float>(group.count);
    }
  }
};

}  // namespace

BlockInfo PartitionsBlock() {
  return RowBlock<Slices>::Info("partitions", 1, "which GPUs are in slices, and which change");
}

}  // namespace berth
