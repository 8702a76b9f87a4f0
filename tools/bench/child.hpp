// Work in a process of its own: its peak memory and CPU time are then its own, and a row that crashes or
// does not end takes nothing down with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace berth::bench {

struct ChildResult {
  std::string text;     // what it gave back, or wrote
  std::string failure;  // why there is none: "ended by signal 11", "no end within 60 s", ...; "" = none
  int exit_code = 0;    // of a command
  double cpu_s = 0, wall_s = 0;
};

// Forks; the child calls `work` and gives back its text. An exception is a failure with its message. Killed
// after `limit_s` of wall time. REQUIRES: no other threads are running here.
ChildResult RunInChild(const std::function<std::string()>& work, double limit_s);

// Starts a program (argv[0] is its path), waits, and gives back what it wrote on standard output; standard
// error goes where ours goes, or nowhere if `quiet`. `environment`: set beside ours.
ChildResult RunCommand(const std::vector<std::string>& argv, double limit_s, bool quiet,
                       const std::vector<std::pair<std::string, std::string>>& environment = {});

// Busy neighbours: processes of ours that only burn CPU time, until the destructor ends them.
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
