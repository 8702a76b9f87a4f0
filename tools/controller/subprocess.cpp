#include "tools/controller/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

extern char** environ;

namespace berth {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Both ends closed when the child is gone.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() { CloseEnd(0), CloseEnd(1); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void CloseEnd(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

}  // namespace

Ran RunCommand(const std::vector<std::string>& words, double limit_s) {
  Ran ran;
  Pipe out, error;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);  // so that Ctrl-C reaches the controller alone
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    ran.exit = 127, ran.error = std::strerror(failed);
    return ran;
  }
  out.CloseEnd(1), error.CloseEnd(1);
  const double end = Now() + limit_s;
  std::array<char, 65536> buffer{};
  while (out.ends[0] >= 0 || error.ends[0] >= 0) {
    const double left = end - Now();
    if (left <= 0.0) {
      ran.timed_out = true;
      break;
    }
    std::array<pollfd, 2> wait = {pollfd{out.ends[0], POLLIN, 0}, pollfd{error.ends[0], POLLIN, 0}};
    if (poll(wait.data(), wait.size(), static_cast<int>(left * 1000.0) + 1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < 2; ++i) {
      if (wait[i].fd < 0 || wait[i].revents == 0) continue;
      const ssize_t got = read(wait[i].fd, buffer.data(), buffer.size());
      if (got > 0) (i == 0 ? ran.out : ran.error).append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) (i == 0 ? out : error).CloseEnd(0);
    }
  }
  if (ran.timed_out) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

}  // namespace berth
