// What is left of a time limit that several solves share.
#pragma once

#include <chrono>

namespace berth {

// Not repeatable: it reads the clock. Thread rule: safe to ask from any thread.
class TimeLeft {
 public:
  explicit TimeLeft(double limit_s) : limit_s_(limit_s) {}  // from now on
  double seconds() const {
    return limit_s_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool over() const { return seconds() <= 0.0; }

 private:
  double limit_s_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace berth
