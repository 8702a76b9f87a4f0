// Estimates of what the jobs in the system will still cost: what learning_signal.hpp makes a quiet signal of.
#pragma once

#include <memory>
#include <span>

#include "env/base/spec.hpp"
#include "env/gym/mdp.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

// In the unit of the reward. A teacher's: it may know of run times what the policy does not.
class Potential {
 public:
  struct Value {
    double all = 0.0;    // phi of the jobs in the system
    double known = 0.0;  // phi of those that had arrived by a moment before
    // D: what arrivals are expected to raise either by, a second; 0 where nobody asked.
    double growth = 0.0, known_growth = 0.0;
  };
  virtual ~Potential() = default;
  virtual void Begin(const Simulator& simulator) = 0;  // of an episode
  // At the present decision point; those before: jobs [0, known). `growth`: D as well, which costs as much
  // again.
  virtual Value Of(const Simulator& simulator, int known, bool growth) = 0;
};

// Calls `visit` for every job in the system: those that may run, and those that arrived and are held back
// until others are done. Both cost time and will cost work; were the latter left out, to let them go would
// look like a loss.
template <class Visit>
void EachInSystem(const Simulator& simulator, const Visit& visit) {
  const SimState& state = simulator.state();
  for (const int job : state.active) visit(job);
  if (state.num_blocked == 0) return;
  for (int job = 0; job < simulator.arrived_jobs(); ++job) {
    if (state.blocked[static_cast<std::size_t>(job)] != 0) visit(job);
  }
}

// Of a potential that is a sum of its jobs': `of_job(job)` each, and D = 0.
template <class OfJob>
Potential::Value SumOverJobs(const Simulator& simulator, int known, const OfJob& of_job) {
  Potential::Value value;
  EachInSystem(simulator, [&](int job) {
    const double phi = of_job(job);
    value.all += phi;
    if (job < known) value.known += phi;
  });
  return value;
}

// What a job in the system has left to do: `steps`, and `type`, where it does them because it may not be
// stopped; -1 = wherever a scheduler likes. It may run there if >= 0.
struct JobLeft {
  double steps;
  int type;
};
JobLeft LeftOf(const Simulator& simulator, int job, bool preemptive);

// A row of `berth list signals`. `make` throws Error where the potential is not for the process's reward.
struct PotentialInfo {
  const char* name;
  const char* summary;
  const char* source;
  const char* terms;  // of a reward, in words: "jct or slowdown"
  std::span<const ParamInfo> params;
  bool (*knows)(const MdpSpec& mdp);  // is it for that reward?
  std::unique_ptr<Potential> (*make)(Params& params, const MdpSpec& mdp);
  bool on_request = false;  // `--signal auto` leaves it out
};
PotentialInfo WsptInfo();
PotentialInfo EvenShareInfo();
PotentialInfo WorkInfo();
PotentialInfo CriticalRatioInfo();

std::span<const PotentialInfo> Potentials();

}  // namespace berth
