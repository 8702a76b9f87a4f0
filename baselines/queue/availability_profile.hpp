// Free GPUs of one type over future time: a step function that reservations are cut out of. A search begins
// where so many GPUs are first free, which only moves on while reservations are made: it costs the steps from
// there to its start, O(log steps) where the profile has no gaps that are too short; a cut moves the steps
// behind it.
#pragma once

#include <vector>

namespace berth {

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

}  // namespace berth
