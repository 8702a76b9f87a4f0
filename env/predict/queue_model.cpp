#include "env/predict/queue_model.hpp"

#include <algorithm>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/predict/run_times.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr double kBound = 10.0;  // s, of the bounded slowdown (Feitelson & Rudolph 1998)

}  // namespace

void QueueModel::Reset(int types, double now, std::span<const int> room) {
  BERTH_CHECK(room.size() == U(types), room.size(), " types of room, expected ", types);
  types_ = types;
  begin_ = now;
  begin_room_.assign(room.begin(), room.end());
  all_room_ = begin_room_;
  begin_running_.clear();
  order_.clear();
  waiting_ = 0;
  NobodyComes();
}

void QueueModel::Runs(double end, int type, int gpus) {
  if (end == kNever) return;
  all_room_[U(type)] += gpus;
  Insert({end, type, gpus}, 0, begin_running_);
}

// Behind those of the same end; before `from` all have ended.
void QueueModel::Insert(const Running& run, std::size_t from, std::vector<Running>& by_end) {
  const auto later = [](const Running& a, const Running& b) { return a.end < b.end; };
  const auto begin = by_end.begin() + static_cast<std::ptrdiff_t>(from);
  by_end.insert(std::upper_bound(begin, by_end.end(), run, later), run);
}

bool QueueModel::EverFits(int gang, std::span<const double> seconds) const {
  for (std::size_t type = 0; type < all_room_.size(); ++type) {
    if (seconds[type] < kNever && gang <= all_room_[type]) return true;
  }
  return false;
}

int QueueModel::Add(double arrival, int gang, std::span<const double> seconds) {
  BERTH_CHECK(seconds.size() == U(types_) && EverFits(gang, seconds), seconds.size(), " types, gang ", gang);
  const double shortest = *std::min_element(seconds.begin(), seconds.end());
  jobs_.push_back({arrival, shortest * gang, shortest, gang});
  seconds_.insert(seconds_.end(), seconds.begin(), seconds.end());
  return static_cast<int>(jobs_.size()) - 1;
}

int QueueModel::Waits(double arrival, int gang, std::span<const double> seconds) {
  BERTH_CHECK(jobs_.size() == U(waiting_), "one waits behind those who come");
  order_.clear();
  ++waiting_;
  return Add(arrival, gang, seconds);
}

int QueueModel::Comes(double arrival, int gang, std::span<const double> seconds) {
  return Add(arrival, gang, seconds);
}

void QueueModel::NobodyComes() {
  jobs_.resize(U(waiting_));
  seconds_.resize(U(waiting_) * U(types_));
}

std::span<const int> QueueModel::order() {
  if (order_.empty()) {
    for (int job = 0; job < waiting_; ++job) order_.push_back(job);
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return std::pair(jobs_[U(a)].area, a) < std::pair(jobs_[U(b)].area, b); });
  }
  return order_;
}

double QueueModel::Play(int first, const QueueRules& rules) {
  BERTH_CHECK(first >= 0 && first < waiting_, first, " of ", waiting_);
  now_ = begin_;
  cost_ = 0.0;
  hour_ = rules.hour;
  ended_ = 0;
  come_ = U(waiting_);
  room_ = begin_room_;
  running_ = begin_running_;
  started_.assign(jobs_.size(), 0);
  queue_.assign(1, first);
  pinned_ = 1;
  for (int job : order()) {
    if (job != first) queue_.push_back(job);
  }
  return rules.commit ? PlayCommit(first, rules.backfill) : PlayRedecide(first, rules.backfill);
}

double QueueModel::Seconds(int job, int type) const {
  return seconds_[U(job) * U(types_) + U(type)];
}

template <typename Allowed>
int QueueModel::FastestFit(int job, Allowed allowed) const {
  int best = -1;
  for (int type = 0; type < types_; ++type) {
    if (Seconds(job, type) == kNever || jobs_[U(job)].gang > room_[U(type)] || !allowed(type)) continue;
    if (best < 0 || Seconds(job, type) < Seconds(job, best)) best = type;
  }
  return best;
}

int QueueModel::FastestFit(int job) const {
  return FastestFit(job, [](int /*type*/) { return true; });
}

void QueueModel::Start(int job, int type) {
  const Job& it = jobs_[U(job)];
  const double seconds = Seconds(job, type);
  Insert({now_ + seconds, type, it.gang}, ended_, running_);
  room_[U(type)] -= it.gang;
  started_[U(job)] = 1;
  const double waited = now_ - it.arrival;
  cost_ += std::max(1.0, (waited + seconds) / std::max(it.shortest, kBound)) + hour_ * waited / 3600.0;
}

bool QueueModel::NextEnd() {
  if (ended_ == running_.size()) return false;
  const Running& run = running_[ended_++];
  now_ = std::max(now_, run.end);
  room_[U(run.type)] += run.gpus;
  return true;
}

void QueueModel::Arrive() {
  const int job = static_cast<int>(come_++);
  const auto from = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(pinned_, queue_.size()));
  const auto less = [&](int a, int b) { return jobs_[U(a)].area < jobs_[U(b)].area; };
  queue_.insert(std::upper_bound(from, queue_.end(), job, less), job);
}

QueueModel::Shadow QueueModel::WhenFits(int job) {
  back_ = room_;
  const int gang = jobs_[U(job)].gang;
  for (std::size_t i = ended_; i < running_.size(); ++i) {
    const Running& run = running_[i];
    int& free = back_[U(run.type)];
    free += run.gpus;
    if (free >= gang && Seconds(job, run.type) < kNever) return {run.end, run.type, free - gang};
  }
  return {kNever, -1, 0};
}

void QueueModel::Fill(int but, double shadow) {
  std::size_t kept = 0;
  for (int job : by_arrival_) {
    if (started_[U(job)] != 0) continue;
    const int best =
        job == but ? -1 : FastestFit(job, [&](int type) { return now_ + Seconds(job, type) < shadow; });
    if (best >= 0) {
      Start(job, best);
    } else {
      by_arrival_[kept++] = job;
    }
  }
  by_arrival_.resize(kept);
}

bool QueueModel::NextEvent() {
  const bool arrives =
      come_ < jobs_.size() && (ended_ == running_.size() || jobs_[come_].arrival <= running_[ended_].end);
  if (!arrives) return NextEnd();
  now_ = std::max(now_, jobs_[come_].arrival);
  by_arrival_.push_back(static_cast<int>(come_));
  Arrive();
  return true;
}

// pinned_ is where the queue begins: before it all have started or been chosen.
double QueueModel::PlayCommit(int first, bool backfill) {
  by_arrival_.clear();
  for (int job = 0; job < waiting_; ++job) by_arrival_.push_back(job);
  for (int chosen = first;; chosen = -1) {
    while (chosen < 0) {
      while (pinned_ < queue_.size() && started_[U(queue_[pinned_])] != 0) ++pinned_;
      if (pinned_ < queue_.size()) {
        chosen = queue_[pinned_++];
      } else if (come_ == jobs_.size() || !NextEvent()) {
        return cost_;
      }
    }
    int type = FastestFit(chosen);
    if (type < 0) {
      const double shadow = backfill ? WhenFits(chosen).time : 0.0;
      while (type < 0) {
        if (backfill) Fill(chosen, shadow);
        BERTH_CHECK(NextEvent(), "job ", chosen, " never fits");
        type = FastestFit(chosen);
      }
    }
    Start(chosen, type);
  }
}

void QueueModel::FillEasy(std::size_t from, int head) {
  if (std::all_of(room_.begin(), room_.end(), [](int idle) { return idle == 0; })) return;
  Shadow shadow = WhenFits(head);
  for (std::size_t i = from; i < queue_.size(); ++i) {
    const int job = queue_[i], gang = jobs_[U(job)].gang;
    const auto delays = [&](int type) {  // unless it takes spare GPUs
      return type == shadow.type && !NoLater(now_ + Seconds(job, type), shadow.time);
    };
    const int best = FastestFit(job, [&](int type) { return !delays(type) || gang <= shadow.spare; });
    if (best < 0) continue;
    if (delays(best)) shadow.spare -= gang;
    Start(job, best);
  }
}

double QueueModel::PlayRedecide(int first, bool easy) {
  while (true) {
    std::size_t i = 0;
    for (int type; i < queue_.size() && (type = FastestFit(queue_[i])) >= 0; ++i) Start(queue_[i], type);
    if (easy && i < queue_.size()) FillEasy(i + 1, queue_[i]);
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), [&](int job) { return started_[U(job)] != 0; }),
                 queue_.end());
    pinned_ = started_[U(first)] == 0 ? 1 : 0;
    if (queue_.empty() && come_ == jobs_.size()) return cost_;
    const double end = ended_ < running_.size() ? running_[ended_].end : kNever;
    const double comes = come_ < jobs_.size() ? jobs_[come_].arrival : kNever;
    const double time = std::min(end, comes);
    BERTH_CHECK(time < kNever, queue_.size(), " jobs never fit");
    now_ = std::max(now_, time);
    while (ended_ < running_.size() && running_[ended_].end <= now_) NextEnd();
    while (come_ < jobs_.size() && jobs_[come_].arrival <= now_) Arrive();
  }
}

}  // namespace berth
