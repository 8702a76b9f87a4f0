// ObservationV2: ObservationV1's blocks, each followed by channels of what features add to a cluster
// (env/features/). A channel of a feature that is off has the value that holds without it.
#include <algorithm>
#include <cmath>

#include "env/check.hpp"
#include "env/encoder.hpp"
#include "env/features/services.hpp"
#include "env/features/stages.hpp"
#include "env/portable_math.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr ChannelInfo kJobExtra[] = {
    {"width", "GPUs it holds over its gang; 0 = it does not run", 0, 64},
    {"least", "log2(GPUs it can run on at least) / 5", 0, 3},
    {"most", "log2(GPUs it can run on at most) / 5", 0, 3},
    {"share", "part of each GPU that it needs", 0, 1},
    {"burstable", "1 = it is promised its share and takes what is idle", 0, 1},
    {"best_effort", "1 = it takes only what is idle", 0, 1},
    {"interruptions", "ln(1 + stops that no decision ordered) / 3", 0, 4},
    {"behind", "ln(1 + jobs that wait for it) / 3", 0, 6},
};
constexpr ChannelInfo kTypeExtra[] = {
    {"in_service", "share of the type's devices in service", 0, 1},
    {"replicas", "share of the type's devices that hold replicas of services", 0, 1},
};
constexpr ChannelInfo kGlobalExtra[] = {
    {"in_service", "share of all devices in service", 0, 1},
    {"replicas_wanted", "replicas ordered that wait for a GPU, over GPUs", 0, 1},
    {"requests_waiting", "ln(1 + requests that wait) / 10", 0, 2},
};

constexpr int kJ = static_cast<int>(std::size(kJobExtra));
constexpr int kT = static_cast<int>(std::size(kTypeExtra));
constexpr int kG = static_cast<int>(std::size(kGlobalExtra));

// V1's channels, then these.
template <std::size_t N>
std::vector<ChannelInfo> After(std::span<const ChannelInfo> first, const ChannelInfo (&extra)[N]) {
  std::vector<ChannelInfo> all(first.begin(), first.end());
  all.insert(all.end(), std::begin(extra), std::end(extra));
  return all;
}
const std::vector<ChannelInfo>& JobChannels() {
  static const auto kAll = After(ObservationV1::JobChannels(), kJobExtra);
  return kAll;
}
const std::vector<ChannelInfo>& TypeChannels() {
  static const auto kAll = After(ObservationV1::TypeChannels(), kTypeExtra);
  return kAll;
}
const std::vector<ChannelInfo>& GlobalChannels() {
  static const auto kAll = After(ObservationV1::GlobalChannels(), kGlobalExtra);
  return kAll;
}

class EncoderV2 final : public Encoder {
 public:
  explicit EncoderV2(std::unique_ptr<Encoder> v1) : v1_(std::move(v1)) {}

  void Begin(const ClusterView& view) override {
    v1_->Begin(view);
    total_.clear();
    for (const GpuType& type : view.cluster().types) total_.push_back(type.count);
  }

  void Encode(const EncoderInput& input, const ObservationLayout& layout, std::span<float> out) override {
    BERTH_CHECK(static_cast<int>(out.size()) == layout.size(), out.size(), " floats for ", layout.size());
    const ObservationLayout inner = ObservationV1::Layout(layout.q, layout.g);
    scratch_.resize(U(inner.size()));
    v1_->Encode(input, inner, scratch_);
    float* jobs = out.data() + layout.jobs_offset();
    for (int row = 0; row < layout.q; ++row, jobs += layout.job_channels) {
      std::copy_n(scratch_.data() + row * inner.job_channels, inner.job_channels, jobs);
      float* extra = jobs + inner.job_channels;
      std::fill_n(extra, kJ, 0.0F);
      if (row < static_cast<int>(input.visible.size())) WriteJob(input.view, input.visible[U(row)], extra);
    }
    std::copy_n(scratch_.data() + inner.pairs_offset(), layout.q * layout.g * inner.pair_channels,
                out.data() + layout.pairs_offset());
    float* types = out.data() + layout.types_offset();
    for (int type = 0; type < layout.g; ++type, types += layout.type_channels) {
      std::copy_n(scratch_.data() + inner.types_offset() + type * inner.type_channels, inner.type_channels,
                  types);
      WriteType(input.view, type, types + inner.type_channels);
    }
    float* global = out.data() + layout.global_offset();
    std::copy_n(scratch_.data() + inner.global_offset(), inner.global_channels, global);
    WriteGlobal(input.view, global + inner.global_channels);
  }

 private:
  static float Log2Of5(int gpus) { return static_cast<float>(Log2(gpus) / 5.0); }

  static void WriteJob(const ClusterView& view, int job, float* f) {
    f[0] = static_cast<float>(view.Width(job)) / static_cast<float>(view.Gang(job));
    f[1] = Log2Of5(view.MinGang(job));
    f[2] = Log2Of5(view.MaxGang(job));
    f[3] = static_cast<float>(view.GpuMilli(job)) / 1000.0F;
    f[4] = view.QosOf(job) == Qos::kBurstable ? 1.0F : 0.0F;
    f[5] = view.QosOf(job) == Qos::kBestEffort ? 1.0F : 0.0F;
    f[6] = static_cast<float>(Log(1.0 + view.Interruptions(job)) / 3.0);
    int behind = 0;
    if (view.stages() != nullptr) {
      for (int child : view.stages()->children[U(job)]) behind += view.stages()->blocked[U(child)] != 0;
    }
    f[7] = static_cast<float>(Log(1.0 + behind) / 3.0);
  }

  void WriteType(const ClusterView& view, int type, float* f) const {
    const auto total = static_cast<float>(total_[U(type)]);
    f[0] = static_cast<float>(view.types()[U(type)].count) / total;
    int replicas = 0;
    if (view.services() != nullptr) {
      const int first = view.first_device(type);
      for (int d = first; d < first + total_[U(type)]; ++d)
        replicas += view.services()->replica_of[U(d)] >= 0;
    }
    f[1] = static_cast<float>(replicas) / total;
  }

  static void WriteGlobal(const ClusterView& view, float* f) {
    int in_service = 0, missing = 0, waiting = 0;
    for (const GpuType& type : view.types()) in_service += type.count;
    if (view.services() != nullptr) {
      for (const ServiceState::Service& service : view.services()->services) {
        missing += std::max(0, service.wanted - static_cast<int>(service.devices.size()));
        waiting += service.queue.waiting();
      }
    }
    const auto gpus = static_cast<float>(view.num_gpus());
    f[0] = static_cast<float>(in_service) / gpus;
    f[1] = std::min(1.0F, static_cast<float>(missing) / gpus);
    f[2] = static_cast<float>(Log(1.0 + waiting) / 10.0);
  }

  std::unique_ptr<Encoder> v1_;
  std::vector<int> total_;      // [G] devices, in service or not
  std::vector<float> scratch_;  // ObservationV1's
};

std::unique_ptr<Encoder> Make(Params& params, const MdpSpec& mdp) {
  return std::make_unique<EncoderV2>(ObservationV1Info().make(params, mdp));
}

}  // namespace

EncoderInfo ObservationV2Info() {
  return {"ObservationV2",
          "ObservationV1 and what features add: widths, shares, failures, dependencies, services",
          "design.md §5",
          {},
          JobChannels(),
          ObservationV1::PairChannels(),
          TypeChannels(),
          GlobalChannels(),
          Make};
}

}  // namespace berth
