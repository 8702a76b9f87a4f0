// Requests to one service, first come first served by its replicas in batches.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "env/base/rng.hpp"

namespace berth {

// When requests come. Piecewise constant or sinusoidal rates, by thinning (Lewis & Shedler 1979).
class RequestStream {
 public:
  enum class Pattern : std::uint8_t { kPoisson, kDiurnal, kBursty };
  struct Settings {
    Pattern pattern = Pattern::kPoisson;
    double rate = 1.0;                                                      // mean requests/s
    double amplitude = 0.0, period_s = 1.0, begins_s = 0.0;                 // kDiurnal
    double burst_rate = 1.0, calm_rate = 1.0, burst_s = 1.0, calm_s = 1.0;  // kBursty: a two-state MMPP
  };
  RequestStream(const Settings& settings, Stream random);
  double Next();                // s, ascending: the arrival after the one given last
  double Rate(double t) const;  // mean requests/s: of a diurnal stream at t s

 private:
  double NextPoisson(double rate) { return now_ += random_.Exponential(1.0 / rate); }
  double NextBursty();

  Settings settings_;
  Stream random_;
  double now_ = 0.0;
  bool in_burst_ = false;
  double phase_ends_ = 0.0;  // kBursty
};

// Latencies by size, in bins 1% apart from 0.1 ms to 10,000 s: percentiles are good to 1%. Longer ones are
// kNeverAnswered, as those of requests without an answer are.
inline constexpr double kNeverAnswered = std::numeric_limits<double>::infinity();
inline constexpr double kLongestLatency = 1e4;  // s that percentiles tell apart

class LatencyHistogram {
 public:
  void Add(double seconds, std::int64_t requests = 1);
  void Add(const LatencyHistogram& other);
  double Quantile(double q) const;  // s, upper edge of the bin; kNeverAnswered beyond all; 0 when empty
  std::int64_t count() const { return count_; }

 private:
  static constexpr int kBins = 1853;  // up to 1e-4 x 1.01^1852 s, which is 10,080
  std::vector<std::int64_t> bins_ = std::vector<std::int64_t>(kBins, 0);
  std::int64_t count_ = 0;
};

// A replica that is idle takes what waits, `max_batch` at most, and answers all of it at once after
// (base_s + requests x item_s) / speed. Whoever takes next: the replica that is idle first, the lowest
// numbered on ties. Matters of time are exact; nothing is fluid.
class RequestQueue {
 public:
  struct Settings {
    double base_s = 0.0, item_s = 0.0, slo_s = 0.0;
    int max_batch = 1;
    bool exponential = false;  // batches take exponential times of that mean: only for checks against theory
  };
  RequestQueue(const Settings& settings, const RequestStream& stream, Stream random);

  // The replicas from `now` on, by their speeds. A batch at work is finished by its replica where that one
  // stays (replicas are told apart by `ids`), at its new speed; otherwise its requests wait again, first in
  // line.
  void SetReplicas(double now, const std::vector<int>& ids, const std::vector<double>& speeds);
  void PlayUntil(double now);

  std::int64_t arrived() const { return arrived_; }
  std::int64_t answered() const { return answered_; }
  std::int64_t within_slo() const { return within_slo_; }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  int overdue() const;                    // of those, who waited longer than slo_s by the last moment played
  double BusySeconds(double now) const {  // replica-seconds at work, up to the last moment played
    double busy = busy_s_;
    for (const Replica& replica : replicas_) busy += replica.batch.empty() ? 0.0 : now - replica.began;
    return busy;
  }
  int replicas() const { return static_cast<int>(replicas_.size()); }
  int max_batch() const { return settings_.max_batch; }
  // Mean seconds of work a request is at the given batch size on the fastest type.
  double WorkPerRequest(int batch) const { return settings_.base_s / batch + settings_.item_s; }
  double Rate(double t) const { return stream_.Rate(t); }
  double latency_sum() const { return latency_s_; }
  const LatencyHistogram& latencies() const { return latencies_; }

 private:
  struct Replica {
    int id;
    double speed;
    double free_at = 0.0;       // s; at work until then
    double began = 0.0;         // of the batch
    std::vector<double> batch;  // arrivals of what it works on
  };
  bool Late(double arrival, double now) const;  // by then longer than slo_s in the system
  void Finish(Replica& replica);
  void Take(Replica& replica, double now);

  Settings settings_;
  RequestStream stream_;
  Stream random_;
  double next_arrival_;
  std::vector<Replica> replicas_;
  std::deque<double> waiting_;  // arrivals, s
  std::int64_t arrived_ = 0, answered_ = 0, within_slo_ = 0;
  double busy_s_ = 0.0, latency_s_ = 0.0, played_s_ = 0.0;
  LatencyHistogram latencies_;
};

}  // namespace berth
