#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Replicas {
  static constexpr ChannelInfo kType[] = {
      {"replicas", "share of the type's devices that hold replicas of services", 0, 1},
  };
  static void Type(const ClusterView& view, int type, float* f) {
    const ServiceState* services = view.Find<ServiceState>();
    if (services == nullptr) return;
    const int count = view.cluster().types[U(type)].count, first = view.first_device(type);
    int replicas = 0;
    for (int d = first; d < first + count; ++d) replicas += services->replica_of[U(d)] >= 0;
    f[0] = static_cast<float>(replicas) / static_cast<float>(count);
  }

  static constexpr ChannelInfo kGlobal[] = {
      {"replicas_wanted", "replicas ordered that wait for a GPU, over GPUs", 0, 1},
      {"requests_waiting", "ln(1 + requests that wait) / 10", 0, 2},
  };
  static void Global(const ClusterView& view, float* f) {
    const ServiceState* services = view.Find<ServiceState>();
    if (services == nullptr) return;
    int missing = 0, waiting = 0;
    for (const ServiceState::Service& service : services->services) {
      missing += std::max(0, service.wanted - static_cast<int>(service.devices.size()));
      waiting += service.queue.waiting();
    }
    f[0] = std::min(1.0F, static_cast<float>(missing) / static_cast<float>(view.num_whole_gpus()));
    f[1] = static_cast<float>(Log(1.0 + waiting) / 10.0);
  }
};

}  // namespace

BlockInfo ServicesBlock() {
  return RowBlock<Replicas>::Info("services", 1,
                                  "GPUs that replicas of services hold and want, and requests");
}

}  // namespace berth
