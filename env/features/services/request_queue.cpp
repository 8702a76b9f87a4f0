#include "env/features/services/request_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kShortest = 1e-4;  // s
constexpr double kStep = 1.01;

// One period of a sine by Bhaskara's rational approximation (7th century; within 0.0017): it is the rate of a
// stream, and the standard's sine may differ from machine to machine.
double Sine(double turns) {
  const double part = turns - std::floor(turns);
  const double half = part < 0.5 ? part : part - 0.5;  // of a turn
  const double x = 2.0 * half;                         // 0..1 over half a turn
  const double value = 16.0 * x * (1.0 - x) / (5.0 - 4.0 * x * (1.0 - x));
  return part < 0.5 ? value : -value;
}

}  // namespace

RequestStream::RequestStream(const Settings& settings, Stream random)
    : settings_(settings), random_(std::move(random)) {
  if (settings_.pattern == Pattern::kBursty) phase_ends_ = random_.Exponential(settings_.calm_s);
}

double RequestStream::Rate(double t) const {
  if (settings_.pattern != Pattern::kDiurnal) return settings_.rate;
  return settings_.rate * (1.0 + settings_.amplitude * Sine((settings_.begins_s + t) / settings_.period_s));
}

double RequestStream::Next() {
  switch (settings_.pattern) {
    case Pattern::kPoisson:
      break;
    case Pattern::kDiurnal: {
      const double highest = settings_.rate * (1.0 + settings_.amplitude);
      for (;;) {
        const double at = NextPoisson(highest);
        if (random_.Uniform() * highest < Rate(at)) return at;
      }
    }
    case Pattern::kBursty:
      return NextBursty();
  }
  return NextPoisson(settings_.rate);
}

// Markov-modulated: a gap that reaches beyond the phase is drawn anew from there, which memorylessness
// allows.
double RequestStream::NextBursty() {
  for (;;) {
    const double gap = random_.Exponential(1.0 / (in_burst_ ? settings_.burst_rate : settings_.calm_rate));
    if (now_ + gap <= phase_ends_) return now_ += gap;
    now_ = phase_ends_;
    in_burst_ = !in_burst_;
    phase_ends_ = now_ + random_.Exponential(in_burst_ ? settings_.burst_s : settings_.calm_s);
  }
}

void LatencyHistogram::Add(double seconds, std::int64_t requests) {
  count_ += requests;
  if (seconds > kLongestLatency) return;  // in no bin: beyond all of them
  static const double kPerLog = 1.0 / Log(kStep);
  const double bin = seconds <= kShortest ? 0.0 : std::floor(Log(seconds / kShortest) * kPerLog) + 1.0;
  bins_[static_cast<std::size_t>(std::min(bin, static_cast<double>(kBins - 1)))] += requests;
}

void LatencyHistogram::Add(const LatencyHistogram& other) {
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) bins_[bin] += other.bins_[bin];
  count_ += other.count_;
}

double LatencyHistogram::Quantile(double q) const {
  if (count_ == 0) return 0.0;
  const double rank = q * static_cast<double>(count_);
  std::int64_t below = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    below += bins_[static_cast<std::size_t>(bin)];
    if (static_cast<double>(below) >= rank) return kShortest * Exp(Log(kStep) * bin);
  }
  return kNeverAnswered;
}

RequestQueue::RequestQueue(const Settings& settings, const RequestStream& stream, Stream random)
    : settings_(settings), stream_(stream), random_(std::move(random)), next_arrival_(stream_.Next()) {}

void RequestQueue::SetReplicas(double now, const std::vector<int>& ids, const std::vector<double>& speeds) {
  PlayUntil(now);
  std::vector<Replica> next;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto old =
        std::find_if(replicas_.begin(), replicas_.end(), [&](const Replica& r) { return r.id == ids[i]; });
    if (old != replicas_.end()) {
      next.push_back(std::move(*old));
      replicas_.erase(old);
      Replica& stays = next.back();
      if (stays.speed == speeds[i]) continue;
      if (!stays.batch.empty()) stays.free_at = now + (stays.free_at - now) * (stays.speed / speeds[i]);
      stays.speed = speeds[i];
    } else {
      next.push_back({ids[i], speeds[i], now, now, {}});
    }
  }
  std::vector<double> again;  // of replicas that go
  for (const Replica& gone : replicas_) {
    if (gone.batch.empty()) continue;
    busy_s_ += now - gone.began;
    again.insert(again.end(), gone.batch.begin(), gone.batch.end());
  }
  std::sort(again.begin(), again.end());
  waiting_.insert(waiting_.begin(), again.begin(), again.end());
  replicas_ = std::move(next);
  for (Replica& replica : replicas_) {
    if (replica.batch.empty() && !waiting_.empty()) Take(replica, now);
  }
}

// An answer at its SLO but for what a sum of times is rounded by is in time.
bool RequestQueue::Late(double arrival, double now) const {
  return now - arrival > settings_.slo_s + 1e-12 * now;
}

void RequestQueue::Finish(Replica& replica) {
  for (double arrival : replica.batch) {
    const double latency = replica.free_at - arrival;
    latencies_.Add(latency);
    latency_s_ += latency;
    within_slo_ += Late(arrival, replica.free_at) ? 0 : 1;
  }
  answered_ += static_cast<std::int64_t>(replica.batch.size());
  busy_s_ += replica.free_at - replica.began;
  replica.batch.clear();
}

void RequestQueue::Take(Replica& replica, double now) {
  const std::size_t take = std::min(waiting_.size(), static_cast<std::size_t>(settings_.max_batch));
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(take);
  replica.batch.assign(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  double seconds = (settings_.base_s + static_cast<double>(take) * settings_.item_s) / replica.speed;
  if (settings_.exponential) seconds = random_.Exponential(seconds);
  replica.began = now;
  replica.free_at = now + seconds;
}

int RequestQueue::overdue() const {  // they wait in the order in which they came
  return static_cast<int>(std::partition_point(waiting_.begin(), waiting_.end(),
                                               [this](double arrival) { return Late(arrival, played_s_); }) -
                          waiting_.begin());
}

void RequestQueue::PlayUntil(double now) {
  played_s_ = now;
  for (;;) {
    Replica* first = nullptr;  // to finish
    for (Replica& replica : replicas_) {
      if (!replica.batch.empty() && (first == nullptr || replica.free_at < first->free_at)) first = &replica;
    }
    const double done = first == nullptr ? kNeverAnswered : first->free_at;
    if (std::min(done, next_arrival_) > now) return;
    if (done <= next_arrival_) {
      Finish(*first);
      if (!waiting_.empty()) Take(*first, done);
      continue;
    }
    const double at = next_arrival_;
    waiting_.push_back(at);
    ++arrived_;
    next_arrival_ = stream_.Next();
    Replica* idle = nullptr;  // since when longest
    for (Replica& replica : replicas_) {
      if (replica.batch.empty() && (idle == nullptr || replica.free_at < idle->free_at)) idle = &replica;
    }
    if (idle != nullptr) Take(*idle, at);
  }
}

}  // namespace berth
