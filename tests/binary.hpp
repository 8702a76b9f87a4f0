// The berth binary in tests: what it ends with and what it writes.
#pragma once

#include <string>

#include "tests/temporary_folder.hpp"

namespace berth::test {

std::string Slurp(const std::string& path);  // "" where there is no such file

struct Outcome {
  int code;  // -1 = killed by a signal
  std::string out, error;
};

// Runs `berth ARGUMENTS` through the shell, in `folder`; code 124 when it has not ended after five minutes.
// `before`: what the shell does first, such as "ulimit -v 1048576 && ".
Outcome Berth(const TemporaryFolder& folder, const std::string& arguments, const std::string& before = "");

// CHECKs exit code 2 and exactly one line on standard error that holds `expected`.
void CheckOneLine(const Outcome& outcome, const std::string& expected);

}  // namespace berth::test
