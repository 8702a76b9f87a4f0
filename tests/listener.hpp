// The closing line `N passed, N failed[, N skipped]` that tools/test adds up, counting test cases.
// Include once a binary, in the file that defines main.
#pragma once

#include <cstdio>

#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth::test {

class ClosingLine : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!stats.totals.testCases.allOk()) {
      ++failed_;
    } else if (TakeSkipped()) {
      ++skipped_;
    } else {
      ++passed_;
    }
    TakeSkipped();
  }
  void testRunEnded(const Catch::TestRunStats&) override {
    std::fflush(stdout);
    std::atexit([] {
      if (failed_ + passed_ + skipped_ == 0) return;
      std::printf("%d passed, %d failed", passed_, failed_);
      if (skipped_ > 0) std::printf(", %d skipped", skipped_);
      std::printf("\n");
    });
  }

 private:
  static inline int passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace berth::test

using BerthClosingLine = berth::test::ClosingLine;
CATCH_REGISTER_LISTENER(BerthClosingLine)
