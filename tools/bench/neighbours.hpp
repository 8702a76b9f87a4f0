// Busy neighbours: processes of ours that only burn CPU time, until the destructor ends them.
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
  double CpuSeconds() const;  // of all of them together, so far

 private:
  std::vector<pid_t> pids_;
};

}  // namespace berth::bench
