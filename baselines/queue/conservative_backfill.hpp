// Conservative backfilling on several GPU types (after Mu'alem and Feitelson 2001): every queued job has a
// reservation, so a job may overtake only if by what is known it delays nobody before it. All are planned
// afresh, in queue order, at every decision. The paper keeps reservations and, when a job ends early, lets
// one after the other move up (compression), so that none ever moves back; here the first in the queue move
// up as far as they can, and the reservation of one behind them may then be later than it was.
#pragma once

#include <vector>

#include "baselines/queue/score_queue.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Free GPUs of one type over future time: a step function that reservations are cut out of. A search begins
// where so many GPUs are first free, which only moves on while reservations are made: it costs the steps from
// there to its start, O(log steps) where the profile has no gaps that are too short; a cut moves the steps
// behind it.
// Reused between decisions: Reset keeps the memory. Times in seconds.
class AvailabilityProfile {
 public:
  void Reset(double now, int free);
  // `gang` more GPUs are free from `time` >= now on.
  void Release(double time, int gang);
  // The earliest start >= now at which `gang` GPUs stay free for `seconds`; infinity when there is none.
  double EarliestStart(int gang, double seconds);
  // Takes `gang` GPUs in [start, end). REQUIRES: they are free.
  void Reserve(double start, double end, int gang);

 private:
  struct Step {
    double time;  // from here to the next step ...
    int free;     // ... this many GPUs are free
  };
  std::size_t Cut(double time);     // index of a step that begins at `time`
  std::size_t FirstWith(int gang);  // index of the first step with as many free

  std::vector<Step> steps_;    // ascending times; the last one lasts for ever
  std::vector<double> first_;  // [gangs asked for] no step before it has as many free
};

// Needs kEstimate. Reused between decisions; thread rule: one thread at a time.
class ConservativeBackfill {
 public:
  // A job reserves the type on which it would start earliest, or finish earliest; ties by the other, then the
  // first type.
  explicit ConservativeBackfill(bool by_start) : by_start_(by_start) {}
  // Puts into `plan`, begun and still empty, the jobs of `queue`, rewound, whose reservation begins now.
  void Fill(const ClusterView& view, ScoreQueue& queue, Plan& plan);

 private:
  struct Slot {
    int type = -1;
    double start = kNever, end = kNever;  // s
  };
  struct Back {   // GPUs of a running job
    double time;  // s
    int type, gang;
  };
  Slot Earliest(const ClusterView& view, int job);
  AvailabilityProfile& Profile(int type) { return profiles_[static_cast<std::size_t>(type)]; }

  bool by_start_;
  std::vector<AvailabilityProfile> profiles_;  // [G]
  std::vector<Back> releases_;
};

}  // namespace berth
