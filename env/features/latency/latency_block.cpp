#include "env/features/latency/latency.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Delays {
  static constexpr ChannelInfo kGlobal[] = {
      {"latency", "ln(1 + seconds from a decision to its effect / 60 s) / 10", 0, 2},
      {"decision_age", "ln(1 + seconds since the decision in effect was made / 60 s) / 10 (feature latency)",
       0, 2},
      {"overtaken", "share of that decision's entries that events had overtaken", 0, 1},
  };
  static void Global(const ClusterView& view, float* f) {
    const LatencyState* latency = view.Find<LatencyState>();
    if (latency == nullptr) return;
    f[0] = LogMinutes(view.features().Find<LatencySettings>()->seconds);
    if (latency->decided_at < kNever) f[1] = LogMinutes(view.now() - latency->decided_at);
    if (latency->entries > 0)
      f[2] = static_cast<float>(latency->overtaken) / static_cast<float>(latency->entries);
  }
};

}  // namespace

BlockInfo LatencyBlock() {
  return RowBlock<Delays>::Info("latency", 1, "how late decisions take effect");
}

}  // namespace berth
