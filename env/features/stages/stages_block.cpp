#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Dependants {
  static constexpr ChannelInfo kJob[] = {
      {"behind", "ln(1 + jobs that wait for it) / 3", 0, 6},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    int behind = 0;
    if (const StageState* stages = view.Find<StageState>(); stages != nullptr) {
      for (int child : stages->children[U(job)]) behind += view.IsBlocked(child);
    }
    f[0] = static_cast<float>(Log(1.0 + behind) / 3.0);
  }
};

}  // namespace

BlockInfo StagesBlock() {
  return RowBlock<Dependants>::Info("stages", 1, "how many jobs wait for a job");
}

}  // namespace berth
