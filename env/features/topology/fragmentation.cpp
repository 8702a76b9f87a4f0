// How much of what is idle is of no use to those who wait (PlacementState::fragmentation).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"
#include "env/sim/core.hpp"

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
void PlacementState::OnReported(SimCore& core) {
  Count(core);
}

void PlacementState::Count(const SimCore& core) {
  const SimState& s = core.state();
  const Scenario& scenario = core.scenario();
  const std::vector<int>& sizes = scenario.data().throughputs.gang_sizes;
  for (int job : s.changed) {
    const char waits = s.phase[U(job)] == JobPhase::kWaiting;
    if (counted_[U(job)] == waits) continue;
    counted_[U(job)] = waits;
    const int gang = scenario.data().jobs.gang[U(job)];
    const auto size =
        static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), gang) - sizes.begin());
    for (int type = 0; type < scenario.num_types(); ++type) {
      if (scenario.Rate(job, type) > 0.0) waiting_[U(type) * sizes.size() + size] += waits ? 1 : -1;
    }
  }
}

void PlacementState::OnDecided(SimCore& core) {
  Count(core);
  fragmentation_seconds += fragmentation * (core.now() - measured_at);
  measured_at = core.now();
  const std::vector<int>& sizes = core.scenario().data().throughputs.gang_sizes;
  double idle = 0.0, stranded = 0.0;
  for (int type = 0; type < core.scenario().num_types(); ++type) {
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      const int gangs = waiting_[U(type) * sizes.size() + size];
      if (gangs == 0) continue;
      idle += static_cast<double>(gangs) * free.rooms.IdleOfType(type);
      stranded += static_cast<double>(gangs) * Stranded(*this, type, sizes[size]);
    }
  }
  fragmentation = idle > 0.0 ? stranded / idle : 0.0;
}

}  // namespace berth
