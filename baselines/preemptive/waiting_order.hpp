// The waiting jobs in ascending order of one or several keys each, kept from one decision to the next, for
// preemptive schedulers that plan greedily: what a job did so far does not change while it waits, so only
// those that run are to be ranked anew. Arrivals and departures cost O(lanes log n), a decision O(S lanes +
// log n) for each pair that it looks at, with n waiting jobs of S gang sizes.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "baselines/queue/job_tree.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// Thread rule: one thread at a time.
class WaitingOrder {
 public:
  // Of a waiting job; it stays as it is while the job waits. kNever = not in this lane.
  using Key = std::function<double(const ClusterView& view, int job, int lane)>;
  explicit WaitingOrder(Key key) : key_(std::move(key)) {}

  void Reset() { mark_ = 0; }
  // At every decision point: brings itself up to the waiting jobs, and back to its first pair.
  void Track(const ClusterView& view, int lanes);

  struct Pair {
    double key;
    int job;  // -1 = none
    int lane;
  };
  // The next pair in order of (key, job, lane) whose gang is at most `room` [lanes] of its lane. Room only
  // shrinks from call to call: gangs beyond it are not looked at again.
  Pair Front(std::span<const int> room);
  void Pop();  // the pair that Front returned is done with

 private:
  struct Stream {
    int gang;
    int lane;
    JobTree order;
    JobTree::Entry head;  // not yet done with; job -1 = none left
  };
  Stream& StreamOf(int gang, int lane);
  double& KeyOf(int job, int lane) {
    return keys_[static_cast<std::size_t>(job) * lanes_ + static_cast<std::size_t>(lane)];
  }

  Key key_;
  std::uint64_t mark_ = 0;
  std::size_t lanes_ = 0;
  std::vector<double> keys_;  // [J, lanes], kNever = not listed
  std::vector<Stream> streams_;
  Stream* front_ = nullptr;
};

}  // namespace berth
