// What must hold of services at any moment (env/sim/invariants.hpp).
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/invariants.hpp"

namespace berth {

std::string ServiceState::Violation(const InvariantInput& in) const {
  const bool whole = settings_->share >= 1.0;
  const bool steady = settings_->pattern != "diurnal";
  std::vector<int> listed(replica_of.size(), -1);
  for (int service = 0; service < static_cast<int>(services.size()); ++service) {
    const Service& own = services[U(service)];
    for (int device : own.devices) listed[U(device)] = service;
    if (steady && own.busy != BusyShareOf(in.scenario, service, in.state.now))
      return Join("service ", service, " is said to work ", own.busy, " of the time");
  }
  std::vector<int> running(beside.size(), 0);
  for (int job : in.state.running) {
    if (in.state.phase[U(job)] != JobPhase::kRunning) continue;
    for (int device : in.state.Devices(job)) ++running[U(device)];
  }
  for (std::size_t d = 0; d < listed.size(); ++d) {
    if (listed[d] != replica_of[d])
      return Join("device ", d, ": service ", listed[d], " lists it, noted is ", replica_of[d]);
    const int out = in.state.out_of_service[d];
    if (out != (listed[d] >= 0 && whole ? out | kHeld : out & ~kHeld))
      return Join("device ", d, ": whether a replica holds it and its service disagree");
    if (listed[d] >= 0 && (out & ~(kHeld | kVacating)) != 0)
      return Join("device ", d, ": a replica, and out of service");
    if (running[d] != beside[d])
      return Join("device ", d, ": ", running[d], " jobs run there, ", beside[d], " are counted");
  }
  return "";
}

}  // namespace berth
