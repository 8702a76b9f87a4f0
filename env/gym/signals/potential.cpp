#include "env/gym/signals/potential.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {

JobLeft LeftOf(const Simulator& simulator, int job, bool preemptive) {
  const Scenario& scenario = simulator.scenario();
  const SimState& state = simulator.state();
  const double steps = std::max(scenario.data().jobs.total_steps[U(job)] - state.AttainedSteps(job), 0.0);
  const int type = preemptive ? -1 : state.on_type[U(job)];
  return {steps, type >= 0 && scenario.Rate(job, type) > 0.0 ? type : -1};
}

}  // namespace berth
