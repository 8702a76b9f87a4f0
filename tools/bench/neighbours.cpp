#include "tools/bench/neighbours.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "env/check.hpp"
#include "tools/bench/measure.hpp"

namespace berth::bench {

BusyNeighbours::BusyNeighbours(int count) : begin_(WallSeconds()) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) throw Error("cannot start a neighbour process");
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives us
      for (std::atomic<unsigned> spin{0};;) spin.fetch_add(1, std::memory_order_relaxed);
    }
    pids_.push_back(pid);
  }
}

BusyNeighbours::~BusyNeighbours() {
  Stop();
}

double BusyNeighbours::Stop() {
  if (pids_.empty()) return 0.0;
  const double wall = WallSeconds() - begin_;
  double cpu = 0.0;
  for (const pid_t pid : pids_) kill(pid, SIGKILL);
  for (const pid_t pid : pids_) {
    rusage usage{};
    while (wait4(pid, nullptr, 0, &usage) < 0 && errno == EINTR) {
    }
    cpu += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  const double share = cpu / (wall * static_cast<double>(pids_.size()));
  pids_.clear();
  return share;
}

}  // namespace berth::bench
