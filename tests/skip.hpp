// Skipping a test case by name: `return test::Skip("needs chromium");`. Skipped cases are counted and
// printed.
#pragma once

#include <cstdio>
#include <string>

#include "tests/catch.hpp"

namespace berth::test {

inline bool& SkippedFlag() {
  static bool flag = false;
  return flag;
}
inline bool TakeSkipped() {
  const bool was = SkippedFlag();
  SkippedFlag() = false;
  return was;
}
inline void Skip(const std::string& why) {
  SkippedFlag() = true;
  std::printf("skipped: %s: %s\n", Catch::getResultCapture().getCurrentTestName().c_str(), why.c_str());
}

}  // namespace berth::test
