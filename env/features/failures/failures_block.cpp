#include "env/base/index.hpp"
#include "env/features/failures/failures.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct InService {
  static constexpr ChannelInfo kJob[] = {
      {"interruptions", "ln(1 + stops that no decision ordered) / 3", 0, 4},
      {"leaves", "1 = a GPU of its is announced to leave service", 0, 1},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    f[0] = static_cast<float>(Log(1.0 + view.Interruptions(job)) / 3.0);
    const FailureState* failures = view.Find<FailureState>();
    if (!view.IsRunning(job) || failures == nullptr || !failures->Announced()) return;
    for (int device : view.Devices(job)) f[1] = failures->DownAt(device) < kNever ? 1.0F : f[1];
  }

  static constexpr ChannelInfo kType[] = {
      {"in_service", "share of the type's devices in service", 0, 1},
  };
  static void Type(const ClusterView& view, int type, float* f) {
    f[0] = static_cast<float>(view.types()[U(type)].count) /
           static_cast<float>(view.cluster().types[U(type)].count);
  }

  static constexpr ChannelInfo kGlobal[] = {
      {"in_service", "share of all GPUs in service", 0, 1},
  };
  static void Global(const ClusterView& view, float* f) {
    double in_service = 0.0;  // GPUs
    for (int type = 0; type < view.num_types(); ++type)
      in_service += view.types()[U(type)].count * view.PartOfGpu(type);
    f[0] = static_cast<float>(in_service / view.num_whole_gpus());
  }
};

}  // namespace

BlockInfo FailuresBlock() {
  return RowBlock<InService>::Info("failures", 1, "what is in service, whom failures stopped and will stop");
}

}  // namespace berth
