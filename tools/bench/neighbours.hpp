// Busy neighbours: processes of ours that only burn CPU time.
#pragma once

#include <sys/types.h>

#include <vector>

namespace berth::bench {

class BusyNeighbours {
 public:
  explicit BusyNeighbours(int count);
  ~BusyNeighbours();
  BusyNeighbours(const BusyNeighbours&) = delete;
  BusyNeighbours& operator=(const BusyNeighbours&) = delete;
  // Ends them: the mean share of a core that one had since the constructor, [0, 1].
  double Stop();

 private:
  std::vector<pid_t> pids_;
  double begin_;
};

}  // namespace berth::bench
