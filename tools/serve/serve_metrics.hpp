// Counters of `berth serve`, as Prometheus reads them (text exposition format 0.0.4).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace berth {

// Thread rule: any thread.
class ServeMetrics {
 public:
  // A request that was answered with `code` after `seconds`; verb: "filter", "prioritize", "other".
  void Count(const std::string& verb, int code, double seconds);
  void CountNodes(std::int64_t passed, std::int64_t failed);
  // `labels` of berth_build_info: `version="0.2.0",commit="..."`; every metric with its HELP and TYPE.
  std::string Text(const std::string& labels) const;

 private:
  static constexpr std::array<double, 8> kBounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 1.0};  // s
  struct Durations {
    std::array<std::int64_t, kBounds.size()> at_most{};  // cumulative, as the format wants them
    std::int64_t count = 0;
    double sum = 0.0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_;
  std::map<std::string, Durations> durations_;
  std::int64_t nodes_passed_ = 0, nodes_failed_ = 0;
};

}  // namespace berth
