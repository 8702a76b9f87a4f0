// Wall-clock laps, for the shares of a run that each stage takes.
#pragma once

#include <chrono>

namespace berth {

class Stopwatch {
 public:
  // Seconds since the last lap, or since it was made.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace berth
