// What a decision sets beside its jobs: each kind belongs to a feature.
#include "env/simulator.hpp"

namespace berth {

bool Simulator::ControlAllowed(const Control& control) const {
  switch (control.kind) {
    case ControlKind::kPartition:
    case ControlKind::kClock:
    case ControlKind::kPowerCap:
    case ControlKind::kReplicas:
      break;
  }
  return false;
}

void Simulator::CarryOut(const Control&) {}

}  // namespace berth
