// Who is on which node: devices and resources taken and given back, and what the cluster chooses itself.
#include "env/features/topology/placement.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
std::unique_ptr<FeatureState> TopologySettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<PlacementState>(*this, scenario);
}

PlacementState::PlacementState(const TopologySettings& settings, const Scenario& scenario)
    : layout(std::make_shared<const ClusterLayout>(MakeLayout(settings, scenario.data()))),
      free{NodeRooms(layout), {}},
      settings_(&settings),
      waiting_(scenario.data().throughputs.gang_sizes.size() * U(scenario.num_types()), 0),
      counted_(U(scenario.num_jobs()), 0) {
  auto demands = std::make_shared<std::vector<NodeDemand>>();
  for (int job = 0; job < scenario.num_jobs(); ++job)
    demands->push_back(DemandOf(settings, scenario.data(), job));
  demand = std::move(demands);
  for (int node = 0; node < layout->num_nodes(); ++node) {
    free.rooms.Add(node, layout->Size(node));
    if (layout->limited) free.left.push_back(layout->capacity[U(layout->type_of[U(node)])]);
  }
}

Placing PlacementState::Choose(const SimCore& core, const Command& command, int width,
                               std::vector<int>& devices) {
  const SimState& s = core.state();
  std::vector<NodeShare> shares;
  if (!ChooseNodes(settings_->Rule(), free, command.type, width, (*demand)[U(command.job)], shares))
    return Placing::kNoRoom;
  devices.clear();
  for (const NodeShare& share : shares) {
    int left = share.members;
    for (int d = layout->first_device[U(share.node)]; left > 0; ++d) {
      if (s.device_job[U(d)] < 0 && s.InService(d)) devices.push_back(d), --left;
    }
  }
  return Placing::kPlaced;
}

void PlacementState::OnPlaced(SimCore& core, int job, bool beside) {
  const auto devices = core.state().Devices(job);
  for (int d : devices) free.Take(layout->NodeOf(d), 1, (*demand)[U(job)], /*devices=*/!beside);
  if (beside || devices.size() <= 1) return;
  ++gang_starts;
  spread_starts += !Consolidated(core.scenario().TypeOfDevice(devices.front()), devices);
}

void PlacementState::BeforeRelease(SimCore& core, int job) {
  const SimState& s = core.state();
  for (int d : s.Devices(job)) {
    const bool alone = s.HoldersOf(d).size() == 1;
    free.Take(layout->NodeOf(d), -1, (*demand)[U(job)], /*devices=*/alone && s.InService(d));
  }
}

void PlacementState::OnIdle(SimCore&, int device, bool idle) {
  free.rooms.Add(layout->NodeOf(device), idle ? 1 : -1);
}

bool PlacementState::MayTake(int job, int device) const {
  return free.left.empty() || Room(1, free.Left(layout->NodeOf(device)), (*demand)[U(job)]) > 0;
}

ApplyResult PlacementState::Validate(const SimCore& core, const Decision& decision) const {
  const SimState& s = core.state();
  const auto named = [](const Command& c) {
    return (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) && c.devices_count > 0;
  };
  if (free.left.empty() || std::none_of(decision.commands.begin(), decision.commands.end(), named)) return {};
  std::vector<NodeCapacity> left = free.left;
  const auto take = [&](int job, int device, int members) {
    NodeCapacity& own = left[U(layout->HostOf(device))];
    bool enough = true;
    for (std::size_t r = 0; r < own.size(); ++r) {
      own[r] -= members * (*demand)[U(job)][r];
      enough = enough && own[r] >= 0;
    }
    return enough;
  };
  for (const Command& c : decision.commands) {
    if (s.phase[U(c.job)] != JobPhase::kRunning) continue;  // it stops, moves or is packed elsewhere
    for (int d : s.Devices(c.job)) take(c.job, d, -1);
  }
  for (std::size_t i = 0; i < decision.commands.size(); ++i) {
    const Command& c = decision.commands[i];
    if (!named(c)) continue;
    for (int k = 0; k < c.devices_count; ++k) {
      if (!take(c.job, decision.devices[U(c.devices_begin + k)], 1))
        return {Rule::kNodeResources, static_cast<int>(i)};
    }
  }
  return {};
}

double PlacementState::SpreadFactor(const Scenario& scenario, const SimState& s, int job, double rate) const {
  const auto devices = s.Devices(job);
  if (devices.size() <= 1) return 1.0;
  PlacedGang gang = {scenario.data().jobs.job_type[U(job)], s.on_type[U(job)],
                     static_cast<int>(devices.size()), rate};
  return berth::SpreadFactor(scenario, *layout, AtItsSteps(s.features, job, gang), ExtentOf(devices));
}

// What is idle and taken on each node, counted anew.
std::string PlacementState::Violation(const InvariantInput& in) const {
  for (int node = 0; node < layout->num_nodes(); ++node) {
    int idle = 0;
    for (int d = layout->first_device[U(node)]; d < layout->first_device[U(node) + 1]; ++d)
      idle += in.state.device_job[U(d)] < 0 && in.state.InService(d);
    if (idle != free.rooms.Idle(node))
      return Join("node ", node, ": ", idle, " idle devices, ", free.rooms.Idle(node), " counted");
  }
  if (free.left.empty()) return "";
  std::vector<NodeCapacity> left;
  for (int node = 0; node < layout->num_nodes(); ++node)
    left.push_back(layout->capacity[U(layout->type_of[U(node)])]);
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    for (int d : in.state.Devices(job)) {
      for (std::size_t r = 0; r < left.front().size(); ++r)
        left[U(layout->HostOf(d))][r] -= (*demand)[U(job)][r];
    }
  }
  for (int node = 0; node < layout->num_nodes(); ++node) {
    if (left[U(node)] != free.left[U(node)])
      return Join("node ", node, ": its resources and what its jobs take disagree");
    for (std::int64_t rest : left[U(node)]) {
      if (rest < 0) return Join("node ", node, ": its jobs take more of a resource than it has");
    }
  }
  return "";
}

void PlacementState::Measure(const SimCore& core, std::span<double> figures) const {
  const auto starts = static_cast<double>(gang_starts);
  figures[0] = MeanFragmentation(core.now());
  figures[1] = starts > 0.0 ? static_cast<double>(spread_starts) / starts : 0.0;
  figures[2] = static_cast<double>(unplaced_orders);
}

FeatureModule TopologyFeature() {
  using enum MetricInfo::Place;
  static constexpr MetricInfo kMetrics[] = {
      {"fragmentation", "time average of the idle GPUs of no use to the gangs that wait, share", kQueue},
      {"spread_starts", "gangs' starts and moves onto more nodes than they need, share", kQueue},
      {"unplaced_orders", "orders that found GPUs and no node with the cores or memory", kQueue}};
  static constexpr BlockInfo (*kBlocks[])() = {TopologyBlock};
  static constexpr ActionInfo (*kActions[])() = {GatherAction, PlaceAction};
  FeatureModule module = ModuleOf<TopologySettings>();
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
