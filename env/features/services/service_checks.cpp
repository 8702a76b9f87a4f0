// What must hold of services at any moment (env/sim/invariants.hpp).
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/invariants.hpp"

namespace berth {

std::string ServiceViolation(const InvariantInput& in) {
  if (!in.state.services) return "";
  const ServiceState& state = *in.state.services;
  const bool whole = in.scenario.data().features.services->share >= 1.0;
  const bool steady = in.scenario.data().features.services->pattern != "diurnal";
  std::vector<int> listed(state.replica_of.size(), -1);
  for (int service = 0; service < static_cast<int>(state.services.size()); ++service) {
    const ServiceState::Service& own = state.services[U(service)];
    for (int device : own.devices) listed[U(device)] = service;
    if (steady && own.busy != BusyShare(in.scenario, state, service, in.state.now))
      return Join("service ", service, " is said to work ", own.busy, " of the time");
  }
  std::vector<int> beside(state.beside.size(), 0);
  for (int job : in.state.running) {
    if (in.state.phase[U(job)] != JobPhase::kRunning) continue;
    for (int device : in.state.Devices(job)) ++beside[U(device)];
  }
  for (std::size_t d = 0; d < listed.size(); ++d) {
    if (listed[d] != state.replica_of[d])
      return Join("device ", d, ": service ", listed[d], " lists it, noted is ", state.replica_of[d]);
    const int out = in.state.out_of_service[d];
    if (out != (listed[d] >= 0 && whole ? out | kServing : out & ~kServing))
      return Join("device ", d, ": whether a replica holds it and its service disagree");
    if (listed[d] >= 0 && (out & ~(kServing | kReconfiguring)) != 0)
      return Join("device ", d, ": a replica, and out of service");
    if (beside[d] != state.beside[d])
      return Join("device ", d, ": ", beside[d], " jobs run there, ", state.beside[d], " are counted");
  }
  return "";
}

}  // namespace berth
