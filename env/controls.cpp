// What a decision sets beside its jobs: each kind belongs to a feature.
#include "env/features/services.hpp"
#include "env/simulator.hpp"

namespace berth {

bool Simulator::ControlAllowed(const Control& control) const {
  switch (control.kind) {
    case ControlKind::kPartition:
    case ControlKind::kClock:
    case ControlKind::kPowerCap:
      break;
    case ControlKind::kReplicas:
      return ServiceEngine::Allowed(*this, control);
  }
  return false;
}

void Simulator::CarryOut(const Control& control) {
  if (control.kind == ControlKind::kReplicas) ServiceEngine::CarryOut(*this, control);
}

}  // namespace berth
