#include "env/features/sharing/sharing.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Shares {
  static constexpr ChannelInfo kJob[] = {
      {"share", "part of each GPU that it needs", 0, 1},
      {"burstable", "1 = it is promised its share and takes what is idle", 0, 1},
      {"best_effort", "1 = it takes only what is idle", 0, 1},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    f[0] = static_cast<float>(view.GpuMilli(job)) / 1000.0F;
    f[1] = view.QosOf(job) == Qos::kBurstable ? 1.0F : 0.0F;
    f[2] = view.QosOf(job) == Qos::kBestEffort ? 1.0F : 0.0F;
  }

  static constexpr ChannelInfo kType[] = {
      {"parts", "thousandths free on devices in partial use, over the type's devices", 0, 1},
  };
  static void Type(const ClusterView& view, int type, float* f) {
    if (view.Find<SharingState>() == nullptr) return;
    const int count = view.cluster().types[static_cast<std::size_t>(type)].count;
    const int first = view.first_device(type);
    int milli = 0;
    for (int d = first; d < first + count; ++d) milli += view.DeviceFree(d) ? 0 : FreeMilli(view, d);
    f[0] = static_cast<float>(milli) / 1000.0F / static_cast<float>(count);
  }
};

}  // namespace

BlockInfo SharingBlock() {
  return RowBlock<Shares>::Info("sharing", 1, "the parts of GPUs that jobs need, and that are free");
}

}  // namespace berth
