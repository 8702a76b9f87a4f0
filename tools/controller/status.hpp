// What the controller of `berth serve --slurm` says of itself, and the mode that somebody asked it for: where
// the controller and the page for operators (tools/operators) meet.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "tools/json.hpp"

namespace berth {

// What a controller may do: reads only; sets priorities; starts jobs and requeues them.
inline constexpr const char* kControllerModes[] = {"dry-run", "advise", "control"};

// Thread rule: any thread.
class StatusBoard {
 public:
  // `writable`: whether a mode may be asked for (--writable).
  explicit StatusBoard(bool writable = false) : writable_(writable) {}

  // The status document (tools/operators/README.md): after each cycle, and at least every few seconds where
  // cycles are rarer, for a document that ages counts as a controller that hangs.
  void Publish(Json status);
  Json Read() const;  // null before the first
  // Seconds since the last Publish by the monotonic clock; none before the first.
  std::optional<double> AgeSeconds() const;

  bool writable() const { return writable_; }
  // By the page, one of kControllerModes; the controller takes it at its next cycle, and the last to ask
  // wins. False = not writable.
  bool AskMode(const std::string& mode);
  std::optional<std::string> AskedMode() const;  // asked and not taken yet
  std::optional<std::string> TakeAskedMode();

 private:
  using Clock = std::chrono::steady_clock;
  const bool writable_;
  mutable std::mutex mutex_;
  Json status_;
  std::optional<Clock::time_point> published_;
  std::optional<std::string> asked_;
};

}  // namespace berth
