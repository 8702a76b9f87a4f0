// A scheduler that plans anew every so many seconds, and whenever nothing runs.
#pragma once

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

class Every {
 public:
  explicit Every(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }
  void Reset() { next_ = 0.0; }
  // Is a plan due? Then, or else, the decision wakes for the next one. Never without jobs.
  bool Due(const ClusterView& view, Decision& decision) {
    if (view.num_active() == 0) return false;
    const bool due = view.now() >= next_ || view.running().empty();
    if (due) next_ = view.now() + seconds_;
    decision.wake_at = next_;
    return due;
  }

 private:
  double seconds_, next_ = 0.0;
};

}  // namespace berth
