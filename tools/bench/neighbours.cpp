#include "tools/bench/neighbours.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "env/base/check.hpp"

namespace berth::bench {

BusyNeighbours::BusyNeighbours(int count) {
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
  for (const pid_t pid : pids_) kill(pid, SIGKILL);
  for (const pid_t pid : pids_) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

double BusyNeighbours::CpuSeconds() const {
  double sum = 0.0;
  for (const pid_t pid : pids_) {
    clockid_t clock;
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
      throw Error("cannot read a neighbour's CPU time");
    }
    sum += static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  return sum;
}

}  // namespace berth::bench
