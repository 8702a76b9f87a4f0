#include "baselines/preemptive/waiting_order.hpp"

#include <algorithm>

namespace berth {

WaitingOrder::Stream& WaitingOrder::StreamOf(int gang, int lane) {
  for (Stream& stream : streams_) {
    if (stream.gang == gang && stream.lane == lane) return stream;
  }
  return streams_.emplace_back(Stream{gang, lane, JobTree(), JobTree::kNone});
}

void WaitingOrder::Track(const ClusterView& view, int lanes) {
  const auto update = [&](int job) {
    for (int lane = 0; lane < lanes; ++lane) {
      double& key = KeyOf(job, lane);
      if (key != kNever) StreamOf(view.Gang(job), lane).order.Erase({key, job});
      key = view.IsWaiting(job) ? key_(view, job, lane) : kNever;
      if (key != kNever) StreamOf(view.Gang(job), lane).order.Insert({key, job});
    }
  };
  if (view.Follows(mark_)) {
    for (int job : view.changed()) update(job);
  } else {
    lanes_ = static_cast<std::size_t>(lanes);
    keys_.assign(static_cast<std::size_t>(view.num_jobs()) * lanes_, kNever);
    streams_.clear();
    for (int job : view.waiting()) update(job);
  }
  for (Stream& stream : streams_) stream.head = stream.order.First();
}

WaitingOrder::Pair WaitingOrder::Front(std::span<const int> room) {
  front_ = nullptr;
  for (Stream& stream : streams_) {
    if (stream.gang > room[static_cast<std::size_t>(stream.lane)]) stream.head = JobTree::kNone;
    if (stream.head.job < 0) continue;
    const auto before = [](const Stream& a, const Stream& b) {
      return a.head < b.head || (a.head.job == b.head.job && a.head.key == b.head.key && a.lane < b.lane);
    };
    if (front_ == nullptr || before(stream, *front_)) front_ = &stream;
  }
  if (front_ == nullptr) return {kNever, -1, -1};
  return {front_->head.key, front_->head.job, front_->lane};
}

void WaitingOrder::Pop() {
  const JobTree::Entry after = front_->head;
  front_->head = front_->order.First(&after);
}

}  // namespace berth
