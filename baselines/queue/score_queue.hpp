// The waiting jobs sorted by a score, kept from one decision to the next: a queue of ten thousand that gains
// one job costs a search and a move, not a sort.
#pragma once

#include <utility>
#include <vector>

#include "env/cluster_view.hpp"

namespace berth {

// How a queue rule orders jobs: the least score first, ties in arrival order (time of arrival, then the
// scenario's order).
struct ScoreRule {
  double (*score)(const ClusterView& view, int job);
  Knowledge knowledge;  // that `score` reads
  bool moves;           // the score of a waiting job changes with time
};

// Thread rule: one thread at a time. Allocates only until its arrays have grown to the longest queue.
class ScoreQueue {
 public:
  explicit ScoreQueue(const ScoreRule& rule) : rule_(rule) {}
  void Reset() { known_ = false; }
  // Called at every decision point, so that arrivals are seen.
  void Track(const ClusterView& view);
  // Jobs that have left since the last Sorted are only looked for where this was called.
  void SomeStarted() { left_ = true; }
  // All waiting jobs at the present time. Valid until the next call of Track.
  const std::vector<int>& Sorted(const ClusterView& view);

 private:
  using Entry = std::pair<double, int>;  // (score, job)
  void Merge(const ClusterView& view);

  ScoreRule rule_;
  bool known_ = false, left_ = false;
  double sorted_at_ = 0.0;      // s, when the scores were those of entries_
  std::vector<Entry> entries_;  // sorted
  std::vector<int> fresh_;      // arrived since, not yet among them
  std::vector<int> jobs_;       // of entries_
};

}  // namespace berth
