// What a decision sets beside its jobs: each kind belongs to a feature.
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

bool Simulator::ControlAllowed(const Control& control) const {
  switch (control.kind) {
    case ControlKind::kPartition:
      return PartitionEngine::Allowed(*this, control);
    case ControlKind::kClock:
    case ControlKind::kPowerCap:
      return state_.power && PowerEngine::ControlAllowed(*this, control);
    case ControlKind::kReplicas:
      return ServiceEngine::Allowed(*this, control);
  }
  return false;
}

void Simulator::CarryOut(const Control& control) {
  switch (control.kind) {
    case ControlKind::kPartition:
      return PartitionEngine::CarryOut(*this, control);
    case ControlKind::kClock:
    case ControlKind::kPowerCap:
      return PowerEngine::CarryOut(*this, control);
    case ControlKind::kReplicas:
      return ServiceEngine::CarryOut(*this, control);
  }
}

}  // namespace berth
