#include "env/features/monitoring/monitoring.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Samples {
  static constexpr ChannelInfo kGlobal[] = {
      {"utilization", "of all devices at the latest sample (feature monitoring)", 0, 1},
  };
  static void Global(const ClusterView& view, float* f) {
    const MonitoringState* seen = view.Find<MonitoringState>();
    if (seen != nullptr && seen->samples() > 0) f[0] = static_cast<float>(seen->MeanUtilization());
  }
};

}  // namespace

BlockInfo MonitoringBlock() {
  return RowBlock<Samples>::Info("monitoring", 1, "what the latest sample says");
}

}  // namespace berth
