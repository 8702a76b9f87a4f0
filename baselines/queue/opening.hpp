// Where jobs could start now: the room that a plan leaves on every type and, where the head of the queue
// holds a reservation on one of them, what may run there without delaying it. As jobs are put into the plan
// the opening only narrows: who does not fit now will not fit later in the same decision.
#pragma once

#include <span>

#include "env/predict/run_times.hpp"
#include "env/sim/plan.hpp"

namespace berth {

struct Reservation {
  int type = -1;          // -1 = none
  double start = kNever;  // s
  int spare = 0;          // GPUs of the type that its holder leaves free at its start
};

// Refers to the view and the plan that it is made of.
class Opening {
 public:
  Opening(const ClusterView& view, const Plan& plan) : view_(view), plan_(plan) {}
  Reservation reservation;

  // May a gang start on `type` that is thought to run there for `seconds`; kNever = it cannot run there.
  bool Allows(int gang, int type, double seconds) const {
    if (seconds == kNever || gang > plan_.room(type)) return false;
    return !Reserved(type) || gang <= reservation.spare || EndsInTime(seconds);
  }
  // ... on some type? `seconds` [G]. Where it holds for the least of several jobs, type by type, it holds for
  // one of them.
  bool Allows(int gang, std::span<const double> seconds) const {
    for (int type = 0; type < static_cast<int>(seconds.size()); ++type) {
      if (Allows(gang, type, seconds[static_cast<std::size_t>(type)])) return true;
    }
    return false;
  }
  // Would a gang that starts on `type` use GPUs that the reservation leaves?
  bool UsesSpare(int type, double seconds) const { return Reserved(type) && !EndsInTime(seconds); }

 private:
  bool Reserved(int type) const { return type == reservation.type; }
  bool EndsInTime(double seconds) const {
    return ReleaseAfter(view_, view_.now(), seconds) <= reservation.start;
  }

  const ClusterView& view_;
  const Plan& plan_;
};

}  // namespace berth
