#include "tools/reproduce/learned/gradient/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "env/base/check.hpp"
#include "tools/side_library.hpp"

namespace berth {
namespace {

constexpr int kCannotRun = 127;  // as shells say it

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::string& log) {
  std::vector<std::string> all = {"berth"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out < 0) throw Error(Join(log, ": cannot be written: ", std::strerror(errno)));
  const pid_t parent = getpid();
  const std::string program = ProgramFile();
  id_ = fork();
  if (id_ == 0) {  // only calls that are safe between fork and exec
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kCannotRun);  // the parent ended before that was set
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(program.c_str(), argv.data());
    _exit(kCannotRun);
  }
  close(out);
  if (id_ < 0) throw Error(Join("cannot start 'berth ", words.at(0), "': ", std::strerror(errno)));
}

bool ChildProcess::Ended(ChildEnd& end) {
  int status = 0;
  rusage used{};
  pid_t found = 0;
  do found = wait4(id_, &status, WNOHANG, &used);
  while (found < 0 && errno == EINTR);
  if (found == 0) return false;
  BERTH_CHECK(found == id_, "wait4: ", std::strerror(errno));
  end = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, SecondsOf(used.ru_utime) + SecondsOf(used.ru_stime)};
  return true;
}

void ChildProcess::Interrupt() const {
  kill(id_, SIGTERM);
}

std::string LastLineOf(const std::string& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace berth
