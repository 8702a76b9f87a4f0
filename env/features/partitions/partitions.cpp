// Layouts of GPUs and their changes (partitions.hpp).
#include "env/features/partitions/partitions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/partitions/partition_groups.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
std::span<const Field<PartitionSettings>> PartitionSettings::Fields() {
  using S = PartitionSettings;
  static const std::array kFields = {
      Field<S>{"type", &S::type, "GPU types that are partitioned, joined by '+'; empty = all that can be"},
      Field<S>{"layout", &S::layout, "of every GPU at the start, such as 3g.40gb+3g.40gb; empty = whole"},
      Field<S>{"reconfig_s", &S::reconfig_s, "what a change of a GPU's layout takes, s"},
      Field<S>{"fixed", &S::fixed, "may schedulers not change layouts"},
      Field<S>{"like", &S::like,
               "GPU types of your own that have the profiles of a product, joined by '+': mine:a100-80gb"},
  };
  return kFields;
}

void PartitionSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("partitions", scenario.clock);
  const std::vector<PartitionGroup> groups = PartitionGroups(*this, scenario);
  if (!fixed) return;
  // Types of which no device is ever in service.
  std::vector<bool> never(scenario.cluster.types.size(), false);
  for (const PartitionGroup& group : groups) {
    const MigLayout& initial = group.layouts[U(group.initial)];
    never[U(group.type)] = !initial.empty();
    for (std::size_t p = 0; p < group.slice_type.size(); ++p) {
      never[U(group.slice_type[p])] = std::none_of(initial.begin(), initial.end(), [&](const MigSlice& s) {
        return s.profile == static_cast<int>(p);
      });
    }
  }
  const ThroughputTable& table = scenario.throughputs;
  for (int job = 0; job < scenario.jobs.size(); ++job) {
    const int gang = scenario.jobs.gang[U(job)], kind = scenario.jobs.job_type[U(job)];
    const auto size = std::find(table.gang_sizes.begin(), table.gang_sizes.end(), gang);
    bool runs = false;
    for (std::size_t g = 0; g < never.size() && size != table.gang_sizes.end(); ++g) {
      const bool allowed = scenario.jobs.allowed.empty() || (scenario.jobs.allowed[U(job)] >> g & 1) != 0;
      const std::size_t row = U(kind) * table.gang_sizes.size() + U(int(size - table.gang_sizes.begin()));
      runs = runs || (allowed && !never[g] && table.alone[row * never.size() + g] > 0.0);
    }
    if (!runs) {
      throw Error(Join("feature 'partitions': job ", job, " ('", table.job_types[U(kind)], "', gang ", gang,
                       ") fits no slice of the fixed layout '", layout, "' and no other GPU"));
    }
  }
}

std::vector<int> DevicesOfGpu(const Scenario& scenario, const PartitionState& state, int gpu) {
  const PartitionGroup& group = state.groups[U(state.gpus[U(gpu)].group)];
  std::vector<int> devices = {state.gpus[U(gpu)].device};
  for (int p = 0; p < static_cast<int>(group.slice_type.size()); ++p) {
    const auto starts = static_cast<int>(group.product->profiles[U(p)].starts.size());
    for (int s = 0; s < starts; ++s) devices.push_back(SliceDevice(scenario, state, gpu, {p, s}));
  }
  return devices;
}

std::unique_ptr<FeatureState> PartitionSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<PartitionState>(*this, scenario);
}

PartitionState::PartitionState(const PartitionSettings& settings, const Scenario& scenario)
    : groups(PartitionGroups(settings, scenario.data())),
      settings_(&settings),
      beyond_gpu_s_(U(scenario.num_jobs()), 0.0) {
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    const PartitionGroup& group = groups[U(g)];
    for (int i = 0; i < group.count; ++i)
      gpus.push_back({g, scenario.first_device(group.type) + i, group.initial});
  }
}

void PartitionState::Start(SimCore& core) {
  for (int gpu = 0; gpu < static_cast<int>(gpus.size()); ++gpu) Show(core, gpu);
}

bool PartitionState::Idle(const Scenario& scenario, const SimState& s, int gpu) const {
  const std::vector<int> devices = DevicesOfGpu(scenario, *this, gpu);
  return std::all_of(devices.begin(), devices.end(), [&](int d) {
    if (s.device_job[U(d)] >= 0) return false;
    for (const FeatureState& feature : s.features.Of(Hook::kHeldShare)) {
      if (feature.HeldShare(d) > 0.0) return false;
    }
    return true;
  });
}

void PartitionState::Show(SimCore& core, int gpu) {
  const Gpu& it = gpus[U(gpu)];
  const MigLayout& layout = groups[U(it.group)].layouts[U(it.layout)];
  std::vector<int> shown;
  if (layout.empty()) shown.push_back(it.device);
  for (const MigSlice& slice : layout) shown.push_back(SliceDevice(core.scenario(), *this, gpu, slice));
  for (int d : DevicesOfGpu(core.scenario(), *this, gpu))
    core.SetService(d, kAbsent, std::find(shown.begin(), shown.end(), d) == shown.end());
}

bool PartitionState::Allows(const SimCore&, const Control& control) const {
  if (control.kind != kPartitionControl || settings_->fixed) return false;
  if (control.index < 0 || U(control.index) >= gpus.size()) return false;
  const auto layouts = groups[U(gpus[U(control.index)].group)].layouts.size();
  return control.value >= 0.0 && control.value < static_cast<double>(layouts) &&
         control.value == std::floor(control.value);
}

bool PartitionState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind != kPartitionControl) return false;
  Gpu& gpu = gpus[U(control.index)];
  const int wanted = static_cast<int>(control.value);
  if (gpu.reconfiguring) {  // it is too late to call it off: another change follows
    gpu.target = wanted;
    return true;
  }
  gpu.target = wanted == gpu.layout ? -1 : wanted;
  for (int d : DevicesOfGpu(core.scenario(), *this, control.index))
    core.SetService(d, kVacating, gpu.target >= 0);
  if (gpu.target >= 0 && Idle(core.scenario(), core.state(), control.index)) Begin(core, control.index);
  return true;
}

void PartitionState::Begin(SimCore& core, int index) {
  Gpu& gpu = gpus[U(index)];
  gpu.reconfiguring = true;
  gpu.used = false;
  gpu.layout = std::exchange(gpu.target, -1);
  Show(core, index);  // out of service all the same
  core.SetTimer({core.now() + settings_->reconfig_s, kReconfigured, index});
}

bool PartitionState::OnTimer(SimCore& core, const Timer& timer) {
  const int index = timer.index;
  Gpu& gpu = gpus[U(index)];
  gpu.reconfiguring = false;
  if (gpu.target >= 0 && gpu.target != gpu.layout) {
    Begin(core, index);
    return false;
  }
  gpu.target = -1;
  for (int d : DevicesOfGpu(core.scenario(), *this, index)) core.SetService(d, kVacating, false);
  return true;
}

void PartitionState::AfterRelease(SimCore& core, int device) {
  if ((core.state().out_of_service[U(device)] & kVacating) == 0) return;
  for (int index = 0; index < static_cast<int>(gpus.size()); ++index) {
    const Gpu& gpu = gpus[U(index)];
    if (gpu.target >= 0 && !gpu.reconfiguring && Idle(core.scenario(), core.state(), index))
      Begin(core, index);
  }
}

std::string PartitionState::Violation(const InvariantInput& in) const {
  for (int index = 0; index < static_cast<int>(gpus.size()); ++index) {
    const Gpu& gpu = gpus[U(index)];
    if (gpu.target >= 0 && !gpu.reconfiguring && Idle(in.scenario, in.state, index))
      return Join("GPU ", index, " is idle and waits for layout ", gpu.target);
    if (gpu.reconfiguring && !Idle(in.scenario, in.state, index))
      return Join("GPU ", index, " changes its layout and is not idle");
  }
  return "";
}

void PartitionState::MarkUsed(const Scenario& scenario, int device) {
  const int type = scenario.TypeOfDevice(device), at = device - scenario.first_device(type);
  for (const PartitionGroup& group : groups) {
    if (type == group.type) gpus[U(group.first_gpu + at)].used = true;
    for (std::size_t p = 0; p < group.slice_type.size(); ++p) {
      const auto starts = static_cast<int>(group.product->profiles[p].starts.size());
      if (group.slice_type[p] == type) gpus[U(group.first_gpu + at / starts)].used = true;
    }
  }
}

void PartitionState::OnRun(SimCore& core, int job, double /*time*/, double held_s, bool starts) {
  if (starts) {
    for (int device : core.state().Devices(job)) MarkUsed(core.scenario(), device);
    return;
  }
  const double part = PartOf(core.scenario().data(), core.state().on_type[U(job)]).fraction();
  beyond_gpu_s_[U(job)] += core.state().Width(job) * held_s * (1.0 - part);
}

double PartitionState::GpuSeconds(const Scenario&, int job, double seconds) const {
  return seconds - beyond_gpu_s_[U(job)];
}

void PartitionState::Withhold(SimCore& core, const Decision& decision) {
  const SimState& s = core.state();
  const auto leaves = [&](int job) { return job < 0 || core.Named(job); };
  for (const Control& control : decision.controls) {
    if (!Allows(core, control)) continue;
    for (int d : DevicesOfGpu(core.scenario(), *this, control.index)) {
      if (core.Marked(d)) continue;
      core.Mark(d);
      if (s.out_of_service[U(d)] != 0) continue;
      const std::vector<int> holders = s.HoldersOf(d);
      if (std::all_of(holders.begin(), holders.end(), leaves))
        core.TakeSpare(core.scenario().TypeOfDevice(d));
    }
  }
}

FeatureModule PartitionsFeature() {
  static constexpr TimerKind kTimers[] = {kReconfigured};
  static constexpr BlockInfo (*kBlocks[])() = {PartitionsBlock};
  static constexpr ActionInfo (*kActions[])() = {LayoutAction};
  FeatureModule module = ModuleOf<PartitionSettings>();
  module.timers = kTimers;
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
