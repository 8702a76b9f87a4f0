// A command of this binary as a process of its own, so that trainings run beside each other and one that
// fails leaves the others alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth {

struct ChildEnd {
  int code;      // exit code; -1 = killed by a signal
  double cpu_s;  // user and system
};

// Thread rule: one thread owns it and its siblings; no other thread of the process runs while one starts.
class ChildProcess {
 public:
  // `berth WORDS`, with what it says appended to the file `log`. It is told to end (SIGTERM) when this
  // process does, however that ends. Throws Error when it cannot be started.
  ChildProcess(const std::vector<std::string>& words, const std::string& log);

  bool Ended(ChildEnd& end);  // does not wait; call until true, then no more
  void Interrupt() const;     // SIGTERM: it saves its state and ends

 private:
  pid_t id_;
};

// The last line that says something, "" where there is none.
std::string LastLineOf(const std::string& log);

}  // namespace berth
