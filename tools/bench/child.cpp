#include "tools/bench/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>

#include "env/base/check.hpp"
#include "tools/bench/measure.hpp"

namespace berth::bench {
namespace {

constexpr int kThrew = 97, kNotFound = 98;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void WriteAll(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

// All that comes before the other end closes; false when that takes longer than `limit_s`.
bool ReadAll(int file, double limit_s, std::string& text) {
  const double end = WallSeconds() + limit_s;
  char buffer[65536];
  for (;;) {
    const double left = end - WallSeconds();
    if (left <= 0.0) return false;
    pollfd poll_on{file, POLLIN, 0};
    const int ready = poll(&poll_on, 1, static_cast<int>(std::min(left, 1000.0) * 1e3) + 1);
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t count = read(file, buffer, sizeof(buffer));
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  }
}

// `child` runs in the new process and ends it; it writes to the file it is given.
template <class F>
ChildResult Fork(const F& child, double limit_s) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(Join("cannot make a pipe: ", std::strerror(errno)));
  std::cout.flush();
  std::fflush(nullptr);
  const double begin = WallSeconds();
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    throw Error(Join("cannot start a process: ", std::strerror(errno)));
  }
  if (pid == 0) {
    setpgid(0, 0);                      // what it starts is killed with it
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // in a group of its own Ctrl-C does not reach it: never outlives us
    if (getppid() != parent) _exit(0);  // it had ended before that
    close(ends[0]);
    child(ends[1]);
  }
  setpgid(pid, pid);
  close(ends[1]);
  ChildResult result;
  const bool in_time = ReadAll(ends[0], limit_s, result.text);
  close(ends[0]);
  if (!in_time) kill(-pid, SIGKILL);
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.wall_s = WallSeconds() - begin;
  result.cpu_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  if (!in_time) {
    result.failure = Join("no end within ", limit_s, " s");
  } else if (WIFSIGNALED(status)) {
    result.failure = Join("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace

ChildResult RunInChild(const std::function<std::string()>& work, double limit_s) {
  ChildResult result = Fork(
      [&](int out) {
        int code = 0;
        std::string text;
        try {
          ForgetPeakMemory();
          text = work();
        } catch (const std::exception& error) {
          text = error.what();
          code = kThrew;
        }
        WriteAll(out, text);
        _exit(code);  // no destructors: they are the parent's
      },
      limit_s);
  if (result.failure.empty() && result.exit_code != 0) {
    result.failure = result.exit_code == kThrew ? result.text : Join("ended with code ", result.exit_code);
  }
  if (!result.failure.empty()) result.text.clear();
  return result;
}

ChildResult RunCommand(const std::vector<std::string>& argv, double limit_s, bool quiet,
                       const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ChildResult result = Fork(
      [&](int out) {
        dup2(out, STDOUT_FILENO);
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO);
        if (quiet) dup2(nothing, STDERR_FILENO);
        for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
        execv(words[0], words.data());
        _exit(kNotFound);
      },
      limit_s);
  if (result.failure.empty() && result.exit_code == kNotFound)
    result.failure = Join("cannot start ", argv[0]);
  return result;
}

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
