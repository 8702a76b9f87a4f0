// How much of what is idle is of no use to those who wait (PlacementState::fragmentation).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/topology/placement_engine.hpp"

namespace berth {
namespace {

// Idle devices of the type that cannot hold a gang consolidated. One larger than a node takes whole nodes and
// what is left of it one more; where those are not there, nothing is of use to it.
int Stranded(const PlacementState& placement, int type, int gang) {
  const NodeRooms& rooms = placement.free.rooms;
  const int size = placement.layout->gpus_per_node[U(type)];
  if (gang <= size) return rooms.IdleBelow(type, gang);
  const int whole = gang / size, rest = gang % size;
  int nodes = 0;  // that would hold the rest
  for (int idle = size; idle >= std::max(rest, 1); --idle) nodes += rooms.NodesWith(type, idle);
  const bool fits = rooms.NodesWith(type, size) >= whole && (rest == 0 || nodes > whole);
  return fits ? rooms.IdleBelow(type, size) : rooms.IdleOfType(type);
}

}  // namespace

// At a report `changed` names everybody who arrived, started, stopped or left since the one before.
void PlacementEngine::Count(Simulator& sim) {
  const SimState& s = sim.state_;
  PlacementState& placement = *sim.state_.placement;
  const std::vector<int>& sizes = sim.scenario_.data().throughputs.gang_sizes;
  for (int job : s.changed) {
    const char waits = s.phase[U(job)] == JobPhase::kWaiting;
    if (placement.counted[U(job)] == waits) continue;
    placement.counted[U(job)] = waits;
    const int gang = sim.scenario_.data().jobs.gang[U(job)];
    const auto size =
        static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), gang) - sizes.begin());
    for (int type = 0; type < sim.scenario_.num_types(); ++type) {
      if (sim.scenario_.Rate(job, type) > 0.0)
        placement.waiting[U(type) * sizes.size() + size] += waits ? 1 : -1;
    }
  }
}

void PlacementEngine::Measure(Simulator& sim) {
  Count(sim);
  PlacementState& placement = *sim.state_.placement;
  placement.fragmentation_seconds += placement.fragmentation * (sim.now() - placement.measured_at);
  placement.measured_at = sim.now();
  const std::vector<int>& sizes = sim.scenario_.data().throughputs.gang_sizes;
  double idle = 0.0, stranded = 0.0;
  for (int type = 0; type < sim.scenario_.num_types(); ++type) {
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      const int gangs = placement.waiting[U(type) * sizes.size() + size];
      if (gangs == 0) continue;
      idle += static_cast<double>(gangs) * placement.free.rooms.IdleOfType(type);
      stranded += static_cast<double>(gangs) * Stranded(placement, type, sizes[size]);
    }
  }
  placement.fragmentation = idle > 0.0 ? stranded / idle : 0.0;
}

}  // namespace berth
