// When the jobs that wait in a real cluster will start.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/controller/live_cluster.hpp"
#include "tools/forecast/start_forecast.hpp"

namespace berth {

// What is known now, for ForecastStarts; `ids` are the jobs of the moment.
struct LiveMoment {
  StartMoment moment;
  std::vector<std::string> ids;
};
LiveMoment MomentOf(const LiveCluster& live);

// Makes forecasts on a thread of its own, so that decisions do not wait for them.
class StartForecasts {
 public:
  struct Interval {
    double low, median, high;  // s since 1970; kNever = later than what was played
  };
  StartForecasts() = default;
  ~StartForecasts();
  StartForecasts(const StartForecasts&) = delete;
  StartForecasts& operator=(const StartForecasts&) = delete;

  bool busy() const { return busy_.load(); }
  // Begins, unless it is busy: of the moment at `now_s` (s since 1970), under a scheduler's spec, for at most
  // `cpu_s`.
  void Begin(LiveMoment moment, double now_s, const std::string& scheduler, double cpu_s);
  // The latest that are done, by job; empty where none could be made.
  std::map<std::string, Interval> Latest() const;

 private:
  std::thread thread_;
  std::atomic<bool> busy_{false};
  mutable std::mutex mutex_;
  std::map<std::string, Interval> latest_;
};

}  // namespace berth
