// Layouts of GPUs and their changes (partitions.hpp).
#include "env/features/partitions/partitions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/partitions/partition_groups.hpp"
#include "env/features/partitions/physical_gpus.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

bool Idle(const Scenario& scenario, const SimState& s, int gpu) {
  const std::vector<int> devices = DevicesOfGpu(scenario, *s.partitions, gpu);
  return std::all_of(devices.begin(), devices.end(), [&](int d) {
    return s.device_job[U(d)] < 0 && (!s.services || s.services->replica_of[U(d)] < 0);
  });
}

}  // namespace

std::span<const Field<PartitionSettings>> PartitionSettings::Fields() {
  using S = PartitionSettings;
  static const std::array kFields = {
      Field<S>{"type", &S::type, "GPU types that are partitioned, joined by '+'; empty = all that can be"},
      Field<S>{"layout", &S::layout, "of every GPU at the start, such as 3g.40gb+3g.40gb; empty = whole"},
      Field<S>{"reconfig_s", &S::reconfig_s, "what a change of a GPU's layout takes, s"},
      Field<S>{"fixed", &S::fixed, "may schedulers not change layouts"},
  };
  return kFields;
}

void PartitionSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("partitions", scenario.clock);
  const std::vector<PartitionGroup> groups = PartitionGroups(scenario);
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

int SliceDevice(const Scenario& scenario, const PartitionState& state, int gpu, const MigSlice& slice) {
  const PartitionGroup& group = state.groups[U(state.gpus[U(gpu)].group)];
  const auto starts = static_cast<int>(group.product->profiles[U(slice.profile)].starts.size());
  return scenario.first_device(group.slice_type[U(slice.profile)]) + (gpu - group.first_gpu) * starts +
         slice.start;
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

void PartitionEngine::Start(Simulator& sim) {
  PartitionState state;
  state.groups = PartitionGroups(sim.scenario_.data());
  for (int g = 0; g < static_cast<int>(state.groups.size()); ++g) {
    const PartitionGroup& group = state.groups[U(g)];
    for (int i = 0; i < group.count; ++i)
      state.gpus.push_back({g, sim.scenario_.first_device(group.type) + i, group.initial});
  }
  state.beyond_gpu_s.assign(U(sim.scenario_.num_jobs()), 0.0);
  sim.state_.partitions = Owned<PartitionState>::Make(std::move(state));
  for (int gpu = 0; gpu < static_cast<int>(sim.state_.partitions->gpus.size()); ++gpu) Show(sim, gpu);
}

void PartitionEngine::Show(Simulator& sim, int gpu) {
  const PartitionState& state = *sim.state_.partitions;
  const PartitionState::Gpu& it = state.gpus[U(gpu)];
  const MigLayout& layout = state.groups[U(it.group)].layouts[U(it.layout)];
  std::vector<int> shown;
  if (layout.empty()) shown.push_back(it.device);
  for (const MigSlice& slice : layout) shown.push_back(SliceDevice(sim.scenario_, state, gpu, slice));
  for (int d : DevicesOfGpu(sim.scenario_, state, gpu))
    sim.SetService(d, kNotInLayout, std::find(shown.begin(), shown.end(), d) == shown.end());
}

bool PartitionEngine::Allowed(const Simulator& sim, const Control& control) {
  const auto& state = sim.state_.partitions;
  if (!state || sim.scenario_.data().features.partitions->fixed) return false;
  if (control.index < 0 || U(control.index) >= state->gpus.size()) return false;
  const auto layouts = state->groups[U(state->gpus[U(control.index)].group)].layouts.size();
  return control.value >= 0.0 && control.value < static_cast<double>(layouts) &&
         control.value == std::floor(control.value);
}

void PartitionEngine::CarryOut(Simulator& sim, const Control& control) {
  PartitionState::Gpu& gpu = sim.state_.partitions->gpus[U(control.index)];
  const int wanted = static_cast<int>(control.value);
  if (gpu.reconfiguring) {  // it is too late to call it off: another change follows
    gpu.target = wanted;
    return;
  }
  gpu.target = wanted == gpu.layout ? -1 : wanted;
  for (int d : DevicesOfGpu(sim.scenario_, *sim.state_.partitions, control.index))
    sim.SetService(d, kReconfiguring, gpu.target >= 0);
  if (gpu.target >= 0 && Idle(sim.scenario_, sim.state_, control.index)) Begin(sim, control.index);
}

void PartitionEngine::Begin(Simulator& sim, int index) {
  PartitionState::Gpu& gpu = sim.state_.partitions->gpus[U(index)];
  gpu.reconfiguring = true;
  gpu.layout = std::exchange(gpu.target, -1);
  Show(sim, index);  // out of service all the same
  sim.timers_.Push(
      {sim.now() + sim.scenario_.data().features.partitions->reconfig_s, TimerKind::kReconfigured, index});
}

bool PartitionEngine::OnReconfigured(Simulator& sim, int index) {
  PartitionState::Gpu& gpu = sim.state_.partitions->gpus[U(index)];
  gpu.reconfiguring = false;
  if (gpu.target >= 0 && gpu.target != gpu.layout) {
    Begin(sim, index);
    return false;
  }
  gpu.target = -1;
  for (int d : DevicesOfGpu(sim.scenario_, *sim.state_.partitions, index))
    sim.SetService(d, kReconfiguring, false);
  return true;
}

void PartitionEngine::Released(Simulator& sim, int device) {
  if ((sim.state_.out_of_service[U(device)] & kReconfiguring) == 0) return;
  PartitionState& state = *sim.state_.partitions;
  for (int index = 0; index < static_cast<int>(state.gpus.size()); ++index) {
    PartitionState::Gpu& gpu = state.gpus[U(index)];
    if (gpu.target >= 0 && !gpu.reconfiguring && Idle(sim.scenario_, sim.state_, index)) Begin(sim, index);
  }
}

std::string PartitionViolation(const InvariantInput& in) {
  if (!in.state.partitions) return "";
  const PartitionState& state = *in.state.partitions;
  for (int index = 0; index < static_cast<int>(state.gpus.size()); ++index) {
    const PartitionState::Gpu& gpu = state.gpus[U(index)];
    if (gpu.target >= 0 && !gpu.reconfiguring && Idle(in.scenario, in.state, index))
      return Join("GPU ", index, " is idle and waits for layout ", gpu.target);
    if (gpu.reconfiguring && !Idle(in.scenario, in.state, index))
      return Join("GPU ", index, " changes its layout and is not idle");
  }
  return "";
}

void PartitionEngine::OnEnd(Simulator& sim, int job, double held_s) {
  const double part = PartOf(sim.scenario_.data(), sim.state_.on_type[U(job)]).fraction();
  sim.state_.partitions->beyond_gpu_s[U(job)] += sim.state_.Width(job) * held_s * (1.0 - part);
}

void PartitionEngine::Withhold(Simulator& sim, const Decision& decision) {
  const SimState& s = sim.state_;
  const auto leaves = [&](int job) { return job < 0 || sim.job_stamp_[U(job)] == sim.stamp_; };
  for (const Control& control : decision.controls) {
    if (control.kind != ControlKind::kPartition || !Allowed(sim, control)) continue;
    for (int d : DevicesOfGpu(sim.scenario_, *s.partitions, control.index)) {
      if (sim.device_stamp_[U(d)] == sim.stamp_) continue;
      sim.device_stamp_[U(d)] = sim.stamp_;
      if (s.out_of_service[U(d)] != 0) continue;
      const auto holders = HoldersOf(s, d);
      if (std::all_of(holders.begin(), holders.end(), leaves)) --sim.spare_[U(sim.scenario_.TypeOfDevice(d))];
    }
  }
}

}  // namespace berth
