// GPUs in slices (MIG, mig_profiles.hpp). Slices are devices: each partitioned type has beside it a type for
// each profile ("a100.3g.40gb") with a device for each place where an instance may begin on each GPU. Those
// that the GPU's present layout has are in service, the others are not, and the whole GPU is where it has no
// layout. So schedulers see slices as types, with counts and rates of their own.
//
// ControlKind::kPartition gives GPU `index` (of PartitionState::gpus) layout `value` (of its group's). Only
// an idle GPU is reconfigured: a busy one takes no new jobs from then on and waits for those it has; a
// replica of a service (services.hpp) leaves it once another GPU takes it, or when fewer are wanted.
// Meanwhile, and for reconfig_s after, none of its devices is in service. Asking for the layout that it has
// calls off what waits. Slices share nothing, so jobs on one GPU do not slow each other.
//
// Rates on a slice: measured where the scenario has the type's column; else, for a gang of 1 whose memory
// fits, the rate on the whole GPU x min(1, c / u): c the slice's fraction of the compute slices, u what of a
// GPU the job can use (JobTypeTraits::utilization, 1 where not stated). Larger gangs need whole GPUs:
// instances have no peer-to-peer transfer (user guide, "Application Considerations").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"
#include "env/features/partitions/mig_profiles.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

struct Control;
class Decision;
struct InvariantInput;
class Scenario;
struct ScenarioData;
class Simulator;

struct PartitionSettings {
  std::string type;         // GPU types, joined by '+'; "" = every type that has profiles
  std::string layout;       // at the start, of every GPU: "3g.40gb+3g.40gb", "" = whole
  double reconfig_s = 5.0;  // s
  bool fixed = false;       // nobody may change the layout

  static constexpr const char* kHelp = "GPUs are partitioned into slices (MIG), which schedulers may change";
  static std::span<const Field<PartitionSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
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

struct PartitionState {
  std::vector<PartitionGroup> groups;
  struct Gpu {
    int group, device;        // device: of the whole
    int layout, target = -1;  // target: wanted, -1 = none
    bool reconfiguring = false;
  };
  std::vector<Gpu> gpus;
  // [J] device-seconds of slices held in finished runs that are no GPU-seconds: of a slice of 1/7, six of
  // seven.
  std::vector<double> beyond_gpu_s;
};

// The types and columns that the settings ask for and the scenario lacks. Throws Error.
void AddSliceTypes(ScenarioData& data);
// What a device of a type counts for: as capacity and, while it is busy, of a GPU. A slice is no capacity of
// its own and its fraction of the compute slices when busy.
struct DeviceWeight {
  double capacity = 1.0, busy = 1.0;
};
DeviceWeight WeightOf(const ScenarioData& data, int type);
// The device of a slice of a GPU.
int SliceDevice(const Scenario& scenario, const PartitionState& state, int gpu, const MigSlice& slice);
// All devices of a GPU, the whole first.
std::vector<int> DevicesOfGpu(const Scenario& scenario, const PartitionState& state, int gpu);

class PartitionEngine {
 public:
  static void Start(Simulator& simulator);
  static bool Allowed(const Simulator& simulator, const Control& control);
  static void CarryOut(Simulator& simulator, const Control& control);
  static bool OnReconfigured(Simulator& simulator, int gpu);
  static void Released(Simulator& simulator, int device);           // by its last user
  static void OnEnd(Simulator& simulator, int job, double held_s);  // of a run; it still has its devices
  // Devices that the decision's controls take out of service are no room for its starts.
  static void Withhold(Simulator& simulator, const Decision& decision);

 private:
  static void Begin(Simulator& simulator, int gpu);
  static void Show(Simulator& simulator, int gpu);  // the layout's devices alone
};

// A GPU with nobody on it does not go on waiting for its layout, and one with somebody does not change it.
std::string PartitionViolation(const InvariantInput& input);

}  // namespace berth
