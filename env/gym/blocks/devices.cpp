// devices: GPUs that more than one job may hold, as entities: who is on them, what is free, and for how long.
// Those with one job or none are in the nodes' rows and the types' channels.
#include <algorithm>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/block_table.hpp"
#include "env/sim/entity_rows.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/in_service.hpp"

namespace berth {
namespace {

constexpr ParamInfo kDevicesParams[] = {
    {"most", "16",
     "devices with a row of their own, 1 to 1024, of those that are held in parts or by two jobs: the most "
     "free "
     "first, then by number"},
};
constexpr ChannelInfo kDevice[] = {
    {"device", "1 = the row is a device's that is held in parts or by two jobs, or that of all further ones",
     0, 1},
    {"devices", kEntityCountMeaning, 0, 2},
    {"free", "part of it that no job holds; 0 of two jobs on a whole one", 0, 1},
    {"holders", "ln(1 + jobs on it) / 3", 0, 3},
    {"held", "part of it that is held by what is not a job", 0, 1},
    {"speed", "mean speed (rate over best rate) of the candidates on its type", 0, 1},
    {"in_service", "1 = it takes jobs", 0, 1},
    {"notice", "ln(1 + time until it leaves / 60 s) / 10; 0 = nothing is announced", 0, 2},
    {"first_end", "ln(1 + time until its first job ends, as it would alone / 60 s) / 10; 0 when blind", 0, 2},
    {"last_end", "the same of its last job", 0, 2},
    {"clock", "its clock over the highest", 0, 1},
    {"heat", "C / 100; 0 = nothing is stated", 0, 2},
};
constexpr std::size_t kDeviceChannels = std::size(kDevice);

class Devices final : public EntityBlock {
 public:
  Devices(int most, const BlockSetup& setup)
      : EntityBlock(most), sighted_(setup.knowledge >= Knowledge::kEstimate) {}

  void Begin(const ClusterView& view) override {
    free_.reserve(U(view.num_gpus()));
    type_of_.clear();
    for (int device = 0; device < view.num_gpus(); ++device) type_of_.push_back(view.TypeOfDevice(device));
    speed_.resize(U(view.num_types()));
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    free_.clear();
    for (const int job : view.running()) {  // each device once: with the first of its jobs
      const int device = view.Devices(job).front(), partner = view.Partner(job);
      const std::span<const int> holders = view.PartHolders(device);
      if (holders.empty() ? partner < job : holders.front() != job) continue;
      int free = holders.empty() ? 0 : 1000;
      for (const int holder : holders) free -= view.GpuMilli(holder);
      free_.emplace_back(-free, device);
    }
    if (free_.empty()) return;
    std::sort(free_.begin(), free_.end());
    std::fill(speed_.begin(), speed_.end(), 0.0);
    for (const int job : input.candidates) {
      for (std::size_t g = 0; g < speed_.size(); ++g)
        speed_[g] += view.Rates(job)[g] / view.BestRate(job) / static_cast<double>(input.candidates.size());
    }
    WriteEntities(out.entities, most_, free_.size(), kDeviceChannels, /*edges=*/0, scratch_,
                  [&](std::size_t i, float* f) { WriteOne(view, free_[i].second, -free_[i].first, f); });
  }

 private:
  void WriteOne(const ClusterView& view, int device, int free_milli, float* f) {
    holders_.assign(view.PartHolders(device).begin(), view.PartHolders(device).end());
    if (holders_.empty()) {
      for (const int job : view.running()) {
        if (view.Devices(job).front() == device) holders_.push_back(job);
      }
    }
    const double leaves_at = LeavesAt(view, device);
    double held = 0.0, clock = 1.0, heat = 0.0, first = kNever, last = 0.0;
    const FeatureStates& features = view.feature_states();
    for (const FeatureState& feature : features.Of(Hook::kHeldShare)) held += feature.HeldShare(device);
    for (const FeatureState& feature : features.Of(Hook::kClockSpeed)) clock *= feature.ClockSpeed(device);
    for (const FeatureState& feature : features.Of(Hook::kDegreesC))
      heat = std::max(heat, feature.DegreesC(device, view.now()));
    for (const int job : holders_) {
      const double left = sighted_ ? view.RemainingSeconds(job, type_of_[U(device)]) : 0.0;
      first = std::min(first, left), last = std::max(last, left);
    }
    f[2] = static_cast<float>(free_milli) / 1000.0F;
    f[3] = static_cast<float>(Log(1.0 + static_cast<double>(holders_.size())) / 3.0);
    f[4] = static_cast<float>(std::min(held, 1.0));
    f[5] = static_cast<float>(speed_[U(type_of_[U(device)])]);
    f[6] = view.InService(device) ? 1.0F : 0.0F;
    f[7] = leaves_at < kNever ? LogMinutes(leaves_at - view.now()) : 0.0F;
    f[8] = first < kNever ? LogMinutes(first) : 0.0F;
    f[9] = last < kNever ? LogMinutes(last) : 0.0F;
    f[10] = static_cast<float>(clock);
    f[11] = static_cast<float>(heat / 100.0);
  }

  bool sighted_;
  std::vector<std::pair<int, int>> free_;  // -thousandths, device
  std::vector<int> type_of_;               // [D]
  std::vector<int> holders_;
  std::vector<double> speed_;  // [G]
};

}  // namespace

BlockInfo DevicesBlock() {
  BlockInfo info{"devices", 1, "entities: GPUs that jobs share or hold parts of, and what is free on them"};
  info.params = kDevicesParams;
  info.entity = kDevice;
  info.make = MakeEntityBlock<Devices>;
  return info;
}

}  // namespace berth
