#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Training {
  static constexpr ChannelInfo kJob[] = {
      {"batch", "log2(the batch it trains or trained with over its application's first) / 8; 0 before", 0, 2},
      {"noise", "ln(1 + gradient noise scale over the first batch) / 10, of the epoch it is in", 0, 2},
      {"restarts", "ln(1 + starts after the first) / 4", 0, 2},
      {"starting", "1 = it runs and does not train yet", 0, 1},
      {"speed", "its goodput over that of its gang on the best type, ln / 4; 0 where it does not run", -2, 2},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    const auto* goodput = view.Find<GoodputState>();
    if (goodput == nullptr) return;
    const GoodputState::Job& its = goodput->jobs[U(job)];
    const Application& application = *its.application;
    if (its.starts > 0)
      f[0] =
          static_cast<float>(Log2(static_cast<double>(goodput->Batch(job)) / application.initial_batch())) /
          8.0F;
    const goodput::GradientStatistics gradients =
        application.curve.Gradients(application.initial_batch(), its.epoch);
    if (gradients.sqr > 0.0) f[1] = static_cast<float>(Log(1.0 + gradients.var / gradients.sqr)) / 10.0F;
    f[2] = static_cast<float>(Log(1.0 + std::max(its.starts - 1, 0))) / 4.0F;
    if (!view.IsRunning(job)) return;
    f[3] = its.trains_from > view.now() ? 1.0F : 0.0F;
    f[4] = static_cast<float>(Log(its.goodput / view.BestRate(job))) / 4.0F;
  }
};

}  // namespace

BlockInfo GoodputBlock() {
  return RowBlock<Training>::Info("goodput", 1,
                                  "with which batch a job trains, and how noisy its gradients are");
}

}  // namespace berth
