// How fast a job runs where it now stands, with all that features say: from the scenario and the state alone,
// so that invariants can work it out anew.
#pragma once

namespace berth {

class Scenario;
struct SimState;

double EffectiveRate(const Scenario& scenario, const SimState& state, int job);  // steps/s of a running job
// The share of a running job's time in which its GPUs work, if all clocks were full: less than 1 where
// other stages of its steps take longer.
double GpuBusyShare(const Scenario& scenario, const SimState& state, int job);

}  // namespace berth
