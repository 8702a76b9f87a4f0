// Progress of long work on standard error: a bar with time left on a terminal, a plain line now and then
// elsewhere. Thread rule: any thread may call Update; calls are cheap between two refreshes.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

namespace berth {

class Progress {
 public:
  explicit Progress(std::string label);
  // To `out`, a terminal or not; not owned. For tests.
  Progress(std::string label, std::FILE* out, bool terminal);
  ~Progress();  // wipes the bar, so that an error message starts on a clean line

  bool terminal() const { return terminal_; }

  // `done` in [0, 1]; `detail` such as "1,234 steps/s, return -12.3". Shown at most ten times a second on a
  // terminal, every few seconds elsewhere.
  void Update(double done, const std::string& detail) { Update(done, detail, {}); }
  // The same with lines above the bar, on a terminal alone. Cut to its width.
  void Update(double done, const std::string& detail, const std::vector<std::string>& panel);
  // "12.50 runs/s": so many since it was made.
  std::string Rate(double count, const std::string& unit) const;
  void Say(const std::string& line);  // once and for good, above the bar

 private:
  using Clock = std::chrono::steady_clock;
  void Wipe();

  const std::string label_;
  std::FILE* const out_;
  const bool terminal_;
  const Clock::time_point begin_;
  std::mutex mutex_;
  Clock::time_point shown_;
  double first_done_ = -1.0;  // of the first Update: work that was resumed did not start at 0
  bool bar_visible_ = false;
  std::size_t lines_above_ = 0;
};

std::string Duration(double seconds);                                         // "45 s", "3:05", "1:02:03"
std::string RateText(double count, double seconds, const std::string& unit);  // "12.34 runs/s"
std::string Thousands(double value);                                          // "1,234,567"
std::string Readable(double value);  // "1,234,567", "12.34" or "-" where it is NaN

}  // namespace berth
