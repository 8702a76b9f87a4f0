// Who is on which node: devices and resources taken and given back, and what the cluster chooses itself.
#include "env/features/topology/placement_engine.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
namespace {

bool InService(const SimState& s, int device) {
  return s.out_of_service.empty() || s.out_of_service[U(device)] == 0;
}

}  // namespace

PlacementState PlacementEngine::MakeState(const Scenario& scenario) {
  const auto layout = std::make_shared<const ClusterLayout>(MakeLayout(scenario.data()));
  auto demand = std::make_shared<std::vector<NodeDemand>>();
  for (int job = 0; job < scenario.num_jobs(); ++job) demand->push_back(DemandOf(scenario.data(), job));
  PlacementState state{layout, demand, {NodeRooms(layout), {}}, 0, 0, 0, 0.0, 0.0, 0.0, {}, {}};
  for (int node = 0; node < layout->num_nodes(); ++node) {
    state.free.rooms.Add(node, layout->Size(node));
    if (layout->limited) state.free.left.push_back(layout->capacity[U(layout->type_of[U(node)])]);
  }
  state.waiting.assign(scenario.data().throughputs.gang_sizes.size() * U(scenario.num_types()), 0);
  state.counted.assign(U(scenario.num_jobs()), 0);
  return state;
}

void PlacementEngine::Start(Simulator& sim) {
  sim.state_.placement = Owned<PlacementState>::Make(MakeState(sim.scenario_));
}

bool PlacementEngine::Choose(const Simulator& sim, const Command& command, int width,
                             std::vector<int>& devices) {
  const SimState& s = sim.state_;
  const PlacementState& placement = *s.placement;
  std::vector<NodeShare> shares;
  const PlacementRule rule = sim.scenario_.data().features.topology->Rule();
  if (!ChooseNodes(rule, placement.free, command.type, width, (*placement.demand)[U(command.job)], shares))
    return false;
  devices.clear();
  for (const NodeShare& share : shares) {
    int left = share.members;
    for (int d = placement.layout->first_device[U(share.node)]; left > 0; ++d) {
      if (s.device_job[U(d)] < 0 && InService(s, d)) devices.push_back(d), --left;
    }
  }
  return true;
}

void PlacementEngine::Take(Simulator& sim, int job) {
  PlacementState& placement = *sim.state_.placement;
  const NodeDemand& demand = (*placement.demand)[U(job)];
  const auto devices = sim.state_.Devices(job);
  for (int d : devices) placement.free.Take(placement.layout->NodeOf(d), 1, demand);
  if (devices.size() <= 1) return;
  ++placement.gang_starts;
  placement.spread_starts += !placement.Consolidated(sim.scenario_.TypeOfDevice(devices.front()), devices);
}

void PlacementEngine::TakeBeside(Simulator& sim, int job) {
  PlacementState& placement = *sim.state_.placement;
  for (int d : sim.state_.Devices(job))
    placement.free.Take(placement.layout->NodeOf(d), 1, (*placement.demand)[U(job)], /*devices=*/false);
}

void PlacementEngine::Give(Simulator& sim, int job) {
  const SimState& s = sim.state_;
  PlacementState& placement = *sim.state_.placement;
  for (int d : s.Devices(job)) {
    const bool alone = HoldersOf(s, d).size() == 1;
    placement.free.Take(placement.layout->NodeOf(d), -1, (*placement.demand)[U(job)],
                        /*devices=*/alone && InService(s, d));
  }
}

void PlacementEngine::Service(Simulator& sim, int device, bool in) {
  PlacementState& placement = *sim.state_.placement;
  placement.free.rooms.Add(placement.layout->NodeOf(device), in ? 1 : -1);
}

// A move has left its devices by now, and others may have taken them: it is stopped.
void PlacementEngine::LeaveUnplaced(Simulator& sim, const Command& command) {
  SimState& s = sim.state_;
  ++s.placement->unplaced_orders;
  sim.Changed(command.job);
  if (s.phase[U(command.job)] != JobPhase::kRunning) return;
  sim.Log(s.now, EventKind::kStop, s.last_type[U(command.job)], command.job, -1);
  s.phase[U(command.job)] = JobPhase::kWaiting;
  s.waiting.Insert(command.job);
}

bool PlacementEngine::PlacePack(Simulator& sim, const Command& command) {
  const SimState& s = sim.state_;
  const PlacementState& placement = *s.placement;
  if (s.phase[U(command.host)] == JobPhase::kRunning) {
    const int node = placement.layout->NodeOf(s.Devices(command.host).front());
    const NodeDemand& demand = (*placement.demand)[U(command.job)];
    if (placement.free.left.empty() || Room(1, placement.free.Left(node), demand) > 0) return true;
  }
  LeaveUnplaced(sim, command);
  return false;
}

ApplyResult PlacementEngine::Validate(const Simulator& sim, const Decision& decision) {
  const SimState& s = sim.state_;
  const PlacementState& placement = *s.placement;
  const auto named = [](const Command& c) {
    return (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) && c.devices_count > 0;
  };
  if (placement.free.left.empty() || std::none_of(decision.commands.begin(), decision.commands.end(), named))
    return {};
  std::vector<NodeCapacity> left = placement.free.left;
  const auto take = [&](int job, int device, int members) {
    NodeCapacity& own = left[U(placement.layout->HostOf(device))];
    bool enough = true;
    for (std::size_t r = 0; r < own.size(); ++r) {
      own[r] -= members * (*placement.demand)[U(job)][r];
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

double PlacementEngine::Factor(const Scenario& scenario, const SimState& s, int job) {
  const auto devices = s.Devices(job);
  if (devices.size() <= 1) return 1.0;
  return SpreadFactor(scenario, *s.placement->layout, job, s.on_type[U(job)],
                      static_cast<int>(devices.size()), s.placement->ExtentOf(devices));
}

// What is idle and taken on each node, counted anew.
std::string PlacementViolation(const InvariantInput& in) {
  if (!in.state.placement) return "";
  const PlacementState& placement = *in.state.placement;
  const ClusterLayout& layout = *placement.layout;
  for (int node = 0; node < layout.num_nodes(); ++node) {
    int idle = 0;
    for (int d = layout.first_device[U(node)]; d < layout.first_device[U(node) + 1]; ++d)
      idle += in.state.device_job[U(d)] < 0 && InService(in.state, d);
    if (idle != placement.free.rooms.Idle(node))
      return Join("node ", node, ": ", idle, " idle devices, ", placement.free.rooms.Idle(node), " counted");
  }
  if (placement.free.left.empty()) return "";
  std::vector<NodeCapacity> left;
  for (int node = 0; node < layout.num_nodes(); ++node)
    left.push_back(layout.capacity[U(layout.type_of[U(node)])]);
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    for (int d : in.state.Devices(job)) {
      for (std::size_t r = 0; r < left.front().size(); ++r)
        left[U(layout.HostOf(d))][r] -= (*placement.demand)[U(job)][r];
    }
  }
  for (int node = 0; node < layout.num_nodes(); ++node) {
    if (left[U(node)] != placement.free.left[U(node)])
      return Join("node ", node, ": its resources and what its jobs take disagree");
    for (std::int64_t rest : left[U(node)]) {
      if (rest < 0) return Join("node ", node, ": its jobs take more of a resource than it has");
    }
  }
  return "";
}

}  // namespace berth
