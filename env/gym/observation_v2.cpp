// ObservationV2: ObservationV1's blocks, each followed by channels of what features add to a cluster
// (env/features/), and what a forecast expects to arrive. A channel of a feature that is off has the value
// that holds without it.
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/failures/failures.hpp"
#include "env/features/forecast/forecast.hpp"
#include "env/features/latency/latency.hpp"
#include "env/features/monitoring/monitoring.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/electricity.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/stages/stages.hpp"
#include "env/features/topology/placement.hpp"
#include "env/gym/added_channels.hpp"
#include "env/gym/encoder.hpp"
#include "env/predict/forecast/arrival_forecast.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kJobExtra[] = {
    {"width", "GPUs it holds over its gang; 0 = it does not run", 0, 64},
    {"least", "log2(GPUs it can run on at least) / 5", 0, 3},
    {"most", "log2(GPUs it can run on at most) / 5", 0, 3},
    {"share", "part of each GPU that it needs", 0, 1},
    {"burstable", "1 = it is promised its share and takes what is idle", 0, 1},
    {"best_effort", "1 = it takes only what is idle", 0, 1},
    {"interruptions", "ln(1 + stops that no decision ordered) / 3", 0, 4},
    {"behind", "ln(1 + jobs that wait for it) / 3", 0, 6},
    {"spread", "1 = it runs on more nodes than it needs", 0, 1},
    {"leaves", "1 = a GPU of its is announced to leave service", 0, 1},
    {"unsaved", "ln(1 + seconds that it ran since its state was last safe / 60 s) / 10", 0, 2},
    {"saving", "ln(1 + seconds to save and to load its state / 60 s) / 10 (feature checkpoints)", 0, 2},
    {"predicted",
     "ln(1 + its whole run time on its fastest type, as predicted / 60 s) / 10 (feature forecast)", 0, 3},
};
constexpr ChannelInfo kPairExtra[] = {
    {"consolidated", "1 = a start now would take as few nodes as the gang needs", 0, 1},
};
constexpr ChannelInfo kTypeExtra[] = {
    {"in_service", "share of the type's devices in service", 0, 1},
    {"replicas", "share of the type's devices that hold replicas of services", 0, 1},
    {"power", "watts of the type's devices over their peak", 0, 1},
    {"throttled", "share of the type's devices that are throttled by heat", 0, 1},
    {"parts", "thousandths free on devices in partial use, over the type's devices", 0, 1},
    {"sliced", "share of its GPUs in slices; of a slice's type, with such a slice (feature partitions)", 0,
     1},
    {"reconfiguring", "share of its GPUs that change their layout or wait to", 0, 1},
};
constexpr ChannelInfo kGlobalExtra[] = {
    {"in_service", "share of all devices in service", 0, 1},
    {"replicas_wanted", "replicas ordered that wait for a GPU, over GPUs", 0, 1},
    {"requests_waiting", "ln(1 + requests that wait) / 10", 0, 2},
    {"power", "watts over the cap, or over the peak of all devices where there is none", 0, 1},
    {"price", "price of electricity now over its mean, less 1; 0 without prices", -1, 10},
    {"fragmentation", "idle devices of no use to the gangs that wait (feature topology)", 0, 1},
    {"utilization", "of all devices at the latest sample (feature monitoring)", 0, 1},
    {"arrivals_ahead", "ln(1 + jobs expected to arrive in the next hour) / 5, by exponential smoothing", 0,
     4},
    {"latency", "ln(1 + seconds from a decision to its effect / 60 s) / 10", 0, 2},
    {"decision_age", "ln(1 + seconds since the decision in effect was made / 60 s) / 10 (feature latency)", 0,
     2},
    {"overtaken", "share of that decision's entries that events had overtaken", 0, 1},
    {"jobs_ahead", "ln(1 + jobs expected within the horizon) / 5 (feature forecast)", 0, 4},
    {"gpus_ahead", "ln(1 + GPUs that they ask for / GPUs) (feature forecast)", 0, 10},
};
constexpr std::size_t kArrivalsAhead = 7;  // of kGlobalExtra

constexpr int kJ = static_cast<int>(std::size(kJobExtra));
constexpr int kP = static_cast<int>(std::size(kPairExtra));
constexpr int kT = static_cast<int>(std::size(kTypeExtra));
constexpr int kG = static_cast<int>(std::size(kGlobalExtra));

const AddedChannels& Channels() {
  static const AddedChannels kAll(kJobExtra, kPairExtra, kTypeExtra, kGlobalExtra);
  return kAll;
}

class EncoderV2 final : public Encoder {
 public:
  explicit EncoderV2(std::unique_ptr<Encoder> v1) : v1_(std::move(v1)) {}

  void Begin(const ClusterView& view) override {
    v1_->Begin(view);
    forecast_.Reset(view.now());
    met_.assign(U(view.num_jobs()), 0);
    for (int job : view.active()) met_[U(job)] = 1;
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
    float* pairs = out.data() + layout.pairs_offset();
    for (int pair = 0; pair < layout.q * layout.g; ++pair, pairs += layout.pair_channels) {
      std::copy_n(scratch_.data() + inner.pairs_offset() + pair * inner.pair_channels, inner.pair_channels,
                  pairs);
      const int row = pair / layout.g;
      const bool present = row < static_cast<int>(input.visible.size());
      pairs[inner.pair_channels] =
          present ? Consolidates(input.view, input.visible[U(row)], pair % layout.g) : 0.0F;
    }
    static_assert(kP == 1);
    float* types = out.data() + layout.types_offset();
    for (int type = 0; type < layout.g; ++type, types += layout.type_channels) {
      std::copy_n(scratch_.data() + inner.types_offset() + type * inner.type_channels, inner.type_channels,
                  types);
      WriteType(input.view, type, types + inner.type_channels);
    }
    float* global = out.data() + layout.global_offset();
    std::copy_n(scratch_.data() + inner.global_offset(), inner.global_channels, global);
    WriteGlobal(input.view, global + inner.global_channels);
    forecast_.Advance(input.view.now());
    for (int job : input.candidates) {  // each is one when it has just arrived
      if (met_[U(job)] == 0) forecast_.Count(1.0);
      met_[U(job)] = 1;
    }
    global[U(inner.global_channels) + kArrivalsAhead] =
        static_cast<float>(Log(1.0 + forecast_.Expected(3600.0)) / 5.0);
  }

 private:
  static float LogMinutes(double seconds) {
    return static_cast<float>(Log(1.0 + std::max(seconds, 0.0) / 60.0) / 10.0);
  }
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
    if (view.Find<StageState>() != nullptr) {
      for (int child : view.Find<StageState>()->children[U(job)]) behind += view.IsBlocked(child);
    }
    f[7] = static_cast<float>(Log(1.0 + behind) / 3.0);
    const CheckpointState* checkpoints = view.Find<CheckpointState>();
    if (checkpoints != nullptr)
      f[11] = LogMinutes(checkpoints->save_s[U(job)] + checkpoints->restore_s[U(job)]);
    if (view.Find<ForecastState>() != nullptr)
      f[12] = LogMinutes(view.Find<ForecastState>()->PredictedSeconds(view, job));
    if (!view.IsRunning(job)) return;
    if (checkpoints != nullptr || view.Find<FailureState>() != nullptr) {
      double safe = view.RunStart(job);
      if (checkpoints != nullptr && checkpoints->saved_at[U(job)] < kNever)
        safe = std::max(safe, checkpoints->saved_at[U(job)]);
      f[10] = LogMinutes(view.now() - safe);
    }
    const std::span<const int> devices = view.Devices(job);
    if (view.Find<PlacementState>() != nullptr)
      f[8] = view.Find<PlacementState>()->Consolidated(view.TypeOf(job), devices) ? 0.0F : 1.0F;
    if (view.Find<FailureState>() != nullptr && view.Find<FailureState>()->Announced()) {
      for (int device : devices) f[9] = view.Find<FailureState>()->DownAt(device) < kNever ? 1.0F : f[9];
    }
  }

  // Without nodes every start is.
  static float Consolidates(const ClusterView& view, int job, int type) {
    if (view.Rate(job, type) <= 0.0) return 0.0F;
    return view.Find<PlacementState>() == nullptr ||
                   view.Find<PlacementState>()->CanConsolidate(job, type, view.Gang(job))
               ? 1.0F
               : 0.0F;
  }

  static void WriteType(const ClusterView& view, int type, float* f) {
    const int count = view.cluster().types[U(type)].count;  // in service or not
    const auto total = static_cast<float>(count);
    f[0] = static_cast<float>(view.types()[U(type)].count) / total;
    std::fill_n(f + 1, kT - 1, 0.0F);
    if (view.Find<PartitionState>() != nullptr) WriteSlices(*view.Find<PartitionState>(), type, f + 5);
    if (view.Find<ServiceState>() == nullptr && view.Find<PowerState>() == nullptr &&
        view.Find<SharingState>() == nullptr)
      return;
    double watts = 0.0, peak = 0.0;
    int replicas = 0, throttled = 0, milli = 0;
    const int first = view.first_device(type);
    for (int d = first; d < first + count; ++d) {
      if (view.Find<ServiceState>() != nullptr) replicas += view.Find<ServiceState>()->replica_of[U(d)] >= 0;
      if (view.Find<PowerState>() != nullptr) {
        const int gpu = view.Find<PowerState>()->GpuOf(d);  // of a slice: its GPU's
        watts += view.Find<PowerState>()->watts[U(gpu)];
        peak += view.Find<PowerState>()->peak_w[view.Find<PowerState>()->type[U(gpu)]];
        throttled += view.Find<PowerState>()->throttled[U(gpu)] != 0;
      }
      if (view.Find<SharingState>() != nullptr && !view.DeviceFree(d)) milli += FreeMilli(view, d);
    }
    f[1] = static_cast<float>(replicas) / total;
    f[2] = peak > 0.0 ? static_cast<float>(watts / peak) : 0.0F;
    f[3] = static_cast<float>(throttled) / total;
    f[4] = static_cast<float>(milli) / 1000.0F / total;
  }

  // Of the GPUs that have devices of this type: the share in slices (of the slice's profile), and in change.
  static void WriteSlices(const PartitionState& state, int type, float* f) {
    for (const PartitionGroup& group : state.groups) {
      const auto slice = std::find(group.slice_type.begin(), group.slice_type.end(), type);
      if (group.type != type && slice == group.slice_type.end()) continue;
      const auto profile = static_cast<int>(slice - group.slice_type.begin());
      int sliced = 0, changing = 0;
      for (int gpu = group.first_gpu; gpu < group.first_gpu + group.count; ++gpu) {
        const PartitionState::Gpu& it = state.gpus[U(gpu)];
        const MigLayout& layout = group.layouts[U(it.layout)];
        const auto such = [&](const MigSlice& s) { return group.type == type || s.profile == profile; };
        sliced += std::any_of(layout.begin(), layout.end(), such);
        changing += it.reconfiguring || it.target >= 0;
      }
      f[0] = static_cast<float>(sliced) / static_cast<float>(group.count);
      f[1] = static_cast<float>(changing) / static_cast<float>(group.count);
    }
  }

  static void WriteGlobal(const ClusterView& view, float* f) {
    int in_service = 0, missing = 0, waiting = 0;
    for (const GpuType& type : view.types()) in_service += type.count;
    if (view.Find<ServiceState>() != nullptr) {
      for (const ServiceState::Service& service : view.Find<ServiceState>()->services) {
        missing += std::max(0, service.wanted - static_cast<int>(service.devices.size()));
        waiting += service.queue.waiting();
      }
    }
    const auto gpus = static_cast<float>(view.num_gpus());
    f[0] = static_cast<float>(in_service) / gpus;
    f[1] = std::min(1.0F, static_cast<float>(missing) / gpus);
    f[2] = static_cast<float>(Log(1.0 + waiting) / 10.0);
    std::fill_n(f + 3, kG - 3, 0.0F);
    if (const PowerState* power = view.Find<PowerState>(); power != nullptr) {
      double peak = 0.0;
      for (std::uint8_t type : power->type) peak += power->peak_w[type];
      f[3] = static_cast<float>(TotalWatts(*power) / std::min(peak, power->cap_w));
      const std::vector<double>& prices = view.features().Find<PowerSettings>()->electricity_price;
      double sum = 0.0;
      for (double price : prices) sum += price;
      const double mean = sum / std::max(1.0, static_cast<double>(prices.size()));
      if (mean > 0.0)
        f[4] = static_cast<float>(std::clamp(PriceAt(prices, view.now()) / mean - 1.0, -1.0, 10.0));
    }
    if (view.Find<PlacementState>() != nullptr)
      f[5] = static_cast<float>(view.Find<PlacementState>()->fragmentation);
    if (const MonitoringState* seen = view.Find<MonitoringState>(); seen != nullptr && seen->samples() > 0) {
      f[6] = static_cast<float>(seen->MeanUtilization());
    }
    if (const LatencyState* latency = view.Find<LatencyState>(); latency != nullptr) {
      f[8] = LogMinutes(view.features().Find<LatencySettings>()->seconds);
      if (latency->decided_at < kNever) f[9] = LogMinutes(view.now() - latency->decided_at);
      if (latency->entries > 0)
        f[10] = static_cast<float>(latency->overtaken) / static_cast<float>(latency->entries);
    }
    if (const ForecastState* forecast = view.Find<ForecastState>(); forecast != nullptr) {
      const double horizon_s = view.features().Find<ForecastSettings>()->horizon_s;
      f[11] = static_cast<float>(Log(1.0 + forecast->ExpectedJobs(horizon_s)) / 5.0);
      f[12] = static_cast<float>(Log(1.0 + forecast->ExpectedGpus(horizon_s) / view.num_gpus()));
    }
  }

  std::unique_ptr<Encoder> v1_;
  ArrivalForecast forecast_{"exponential", 3600.0};
  std::vector<char> met_;       // [J] counted as an arrival, or there from the start
  std::vector<float> scratch_;  // ObservationV1's
};

std::unique_ptr<Encoder> Make(Params& params, const MdpSpec& mdp) {
  return std::make_unique<EncoderV2>(ObservationV1Info().make(params, mdp));
}

}  // namespace

EncoderInfo ObservationV2Info() {
  return {"ObservationV2",
          "ObservationV1 and what features add: widths, shares, nodes, failures, power, services, ...",
          "design.md §5",
          {},
          Channels().job,
          Channels().pair,
          Channels().type,
          Channels().global,
          Make};
}

}  // namespace berth
