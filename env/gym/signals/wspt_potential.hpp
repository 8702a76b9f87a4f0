// The cost-to-go of jobs that are worked off by weight over work, most first (WSPT), on a cluster whose GPUs
// are as one machine: each waits for the work of those before it, and then runs alone on its fastest type.
#pragma once

#include <span>

namespace berth {

// A job, or a mean of several.
struct WsptJob {
  double weight = 1.0;  // what it costs a second in the system
  double left = 0.0;    // s, run alone on its fastest type
  double work = 0.0;    // GPU s that those after it wait for
  bool known = true;    // it had arrived by the moment before
  bool Before(const WsptJob& other) const { return weight * other.work > other.weight * work; }
};

// Sum over `jobs`, sorted by WsptJob::Before, of weight (left + delay (work of those before it) / gpus).
double WsptCost(std::span<const WsptJob> jobs, double delay, double gpus);

// What one more job raises WsptCost by, its mean over the sorted `more`. Both sorted. O(jobs + more).
double WsptGrowth(std::span<const WsptJob> jobs, std::span<const WsptJob> more, double delay, double gpus);

}  // namespace berth
