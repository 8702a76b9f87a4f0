// The plainest scheduler: waiting jobs in order of arrival on type 0 while they fit; the first that does not
// blocks the rest.
#pragma once

#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"

namespace berth::test {

inline void Strict(const Simulator& sim, Decision& decision) {
  int room = sim.state().free_gpus[0];
  for (int job : sim.state().waiting) {
    const int gang = sim.scenario().data().jobs.gang[U(job)];
    if (gang > room) break;
    room -= gang;
    decision.Start(job, 0);
  }
}

}  // namespace berth::test
