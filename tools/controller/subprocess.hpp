// A command as a child, without a shell, with a time limit.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct Ran {
  int exit = 0;  // as a shell has it: 127 = not found, 128 + signal
  bool timed_out = false;
  std::string out, error;
};

// Its whole group is killed after `limit_s`. Thread rule: any thread.
Ran RunCommand(const std::vector<std::string>& words, double limit_s);

}  // namespace berth
