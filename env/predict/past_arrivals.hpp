// Jobs that may come, drawn with replacement from those that came (a bootstrap of the log so far): gaps
// between arrivals and jobs independently of each other.
#pragma once

#include "env/base/rng.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// A pure function of the view: what is remembered is only how far the log has come. Of a part of a cluster it
// draws what comes to the whole. Thread rule: one thread at a time.
class PastArrivals {
 public:
  void Begin() { seen_ = 0; }
  // Of the last `most` jobs that have arrived. Needs kEstimate where jobs request nothing.
  void Update(const ClusterView& view, int most);
  int size() const { return seen_ - first_; }  // jobs to draw from
  int seen() const { return seen_; }           // jobs that have arrived

  double Gap(const ClusterView& view, Stream& stream) const;  // s to the next arrival; size() >= 2
  int Job(Stream& stream) const;                              // whose like comes; size() >= 1

 private:
  int seen_ = 0, first_ = 0;
};

}  // namespace berth
