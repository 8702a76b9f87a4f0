// Progress of long work on standard error: a bar with time left on a terminal, a plain line now and then
// elsewhere. Thread rule: any thread may call Update; calls are cheap between two refreshes.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace berth {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();  // wipes the bar, so that an error message starts on a clean line

  // `done` in [0, 1]; `detail` such as "1,234 steps/s, return -12.3". Shown at most ten times a second on a
  // terminal, every few seconds elsewhere.
  void Update(double done, const std::string& detail);

 private:
  using Clock = std::chrono::steady_clock;
  void Wipe();

  const std::string label_;
  const bool terminal_;
  const Clock::time_point begin_;
  std::mutex mutex_;
  Clock::time_point shown_;
  double first_done_ = -1.0;  // of the first Update: work that was resumed did not start at 0
  bool bar_visible_ = false;
};

std::string Duration(double seconds);  // "45 s", "3:05", "1:02:03"
std::string Thousands(double value);   // "1,234,567"
std::string Readable(double value);    // "1,234,567", "12.34" or "-" where it is NaN

}  // namespace berth
