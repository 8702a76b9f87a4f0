// GPUs in slices (MIG, mig_profiles.hpp). Slices are devices: each partitioned type has beside it a type for
// each profile ("a100.3g.40gb") with a device for each place where an instance may begin on each GPU. Those
// that the GPU's present layout has are in service, the others are not, and the whole GPU is where it has no
// layout. So schedulers see slices as types, with counts and rates of their own.
//
// kPartitionControl gives GPU `index` (of PartitionState::gpus) layout `value` (of its group's). Only
// an idle GPU is reconfigured: a busy one takes no new jobs from then on and waits for those it has; what
// else works there leaves it when it can (kVacating).
// Meanwhile, and for reconfig_s after, none of its devices is in service. Asking for the layout that it has
// calls off what waits. Slices share nothing, so jobs on one GPU do not slow each other.
//
// Rates on a slice: measured where the scenario has the type's column; else, for a gang of 1 whose memory
// fits, the rate on the whole GPU x min(1, c / u, m / b): c the slice's fraction of the compute slices, u
// what of a GPU the job can use (JobTypeTraits::utilization, 1 where not stated); m its fraction of the
// memory slices, each of which has its channels to memory, b what of the bandwidth the job uses
// (BandwidthShare, 0 where not stated). Larger gangs need whole GPUs: instances have no peer-to-peer transfer
// (user guide, "Application Considerations").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/features/partitions/mig_profiles.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

struct PartitionSettings final : SettingsOf<PartitionSettings> {
  std::string type;         // GPU types, joined by '+'; "" = every type that has profiles
  std::string layout;       // at the start, of every GPU: "3g.40gb+3g.40gb", "" = whole
  double reconfig_s = 5.0;  // s
  bool fixed = false;       // nobody may change the layout
  std::string like;         // whose profiles types of other names have: "mine:a100-80gb+other:h100-80gb"

  static constexpr const char* kName = "partitions";
  static constexpr const char* kHelp = "GPUs are partitioned into slices (MIG), which schedulers may change";
  static std::span<const Field<PartitionSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  void AddTypes(ScenarioData& scenario) const override;  // slice_types.cpp
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
};

// A partitioned type. Layouts are numbered: 0 = whole, then MaximalLayouts, then the initial one where it is
// not among them.
struct PartitionGroup {
  const MigProduct* product;
  int type;                     // of the whole GPU
  std::vector<int> slice_type;  // [profiles]
  std::vector<MigLayout> layouts;
  int first_gpu, count, initial;  // GPUs [first_gpu, first_gpu + count); layout at the start
};

inline constexpr ControlKind kPartitionControl{0};
inline constexpr TimerKind kReconfigured{9};  // index: GPU of PartitionState::gpus

class PartitionState final : public StateOf<PartitionState, PartitionSettings> {
 public:
  PartitionState(const PartitionSettings& settings, const Scenario& scenario);

  std::vector<PartitionGroup> groups;
  struct Gpu {
    int group, device;        // device: of the whole
    int layout, target = -1;  // target: wanted, -1 = none
    bool reconfiguring = false;
    bool used = true;  // a job started there since it got its layout; the first one counts as used
  };
  std::vector<Gpu> gpus;

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  // Devices that the decision's controls take out of service are no room for its starts.
  void Withhold(SimCore& core, const Decision& decision) override;
  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  void AfterRelease(SimCore& core, int device) override;
  void OnRun(SimCore& core, int job, double time, double held_s, bool starts) override;
  double GpuSeconds(const Scenario& scenario, int job, double seconds) const override;
  // A GPU with nobody on it does not go on waiting for its layout, and one with somebody does not change it.
  std::string Violation(const InvariantInput& input) const override;

 private:
  void Begin(SimCore& core, int gpu);
  void MarkUsed(const Scenario& scenario, int device);  // its GPU
  void Show(SimCore& core, int gpu);                    // the layout's devices alone
  bool Idle(const Scenario& scenario, const SimState& state, int gpu) const;

  const PartitionSettings* settings_;
  // [J] device-seconds of slices held in finished runs that are no GPU-seconds: of a slice of 1/7, six of
  // seven.
  std::vector<double> beyond_gpu_s_;
};

// The device of a slice of a GPU. `cluster`: a Scenario, or a ClusterView of it.
template <class Cluster>
int SliceDevice(const Cluster& cluster, const PartitionState& state, int gpu, const MigSlice& slice) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const PartitionGroup& group = state.groups[at(state.gpus[at(gpu)].group)];
  const auto starts = static_cast<int>(group.product->profiles[at(slice.profile)].starts.size());
  return cluster.first_device(group.slice_type[at(slice.profile)]) + (gpu - group.first_gpu) * starts +
         slice.start;
}
// All devices of a GPU, the whole first.
std::vector<int> DevicesOfGpu(const Scenario& scenario, const PartitionState& state, int gpu);

BlockInfo PartitionsBlock();  // what observations show of it
ActionInfo LayoutAction();    // what policies may do with it

}  // namespace berth
