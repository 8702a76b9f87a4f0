#include "env/features/elasticity/elasticity.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

float Log2Of5(int gpus) {
  return static_cast<float>(Log2(gpus) / 5.0);
}

struct Widths {
  static constexpr ChannelInfo kJob[] = {
      {"width", "GPUs it holds over its gang; 0 = it does not run", 0, 1e7F},
      {"least", "log2(GPUs it can run on at least) / 5", 0, 3},
      {"most", "log2(GPUs it can run on at most) / 5", 0, 3},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    f[0] = static_cast<float>(view.Width(job)) / static_cast<float>(view.Gang(job));
    f[1] = Log2Of5(view.MinGang(job));
    f[2] = Log2Of5(view.MaxGang(job));
  }
};

}  // namespace

BlockInfo ElasticityBlock() {
  BlockInfo info = RowBlock<Widths>::Info("elasticity", 1, "on how many GPUs a job runs, and could");
  info.foreign = true;
  return info;
}

}  // namespace berth
