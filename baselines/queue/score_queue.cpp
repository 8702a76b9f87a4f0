#include "baselines/queue/score_queue.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {
namespace {

// For std heaps, which keep the greatest at the front.
bool Later(const JobTree::Entry& a, const JobTree::Entry& b) {
  return b < a;
}

}  // namespace

ScoreQueue::GangClass& ScoreQueue::ClassOf(int gang) {
  const auto at = std::lower_bound(classes_.begin(), classes_.end(), gang,
                                   [](const GangClass& c, int g) { return c.gang < g; });
  if (at != classes_.end() && at->gang == gang) return *at;
  return *classes_.insert(at, {gang, 0, JobTree(static_cast<int>(seconds_.size()))});
}

void ScoreQueue::Seconds(const ClusterView& view, int job) {
  for (int type = 0; type < view.num_types(); ++type) {
    const bool runs = view.Rate(job, type) > 0.0;
    seconds_[U(type)] = !runs ? kNever : timed_ ? EstimatedHold(view, job, type) : 0.0;
  }
}

void ScoreQueue::Add(const ClusterView& view, int job) {
  GangClass& its = ClassOf(view.Gang(job));
  ++its.count;
  listed_[U(job)] = true;
  if (rule_.moves) return;
  Seconds(view, job);
  score_[U(job)] = rule_.score(view, job);
  its.order.Insert({score_[U(job)], job}, seconds_);
}

void ScoreQueue::Remove(const ClusterView& view, int job) {
  GangClass& its = ClassOf(view.Gang(job));
  --its.count;
  listed_[U(job)] = false;
  if (!rule_.moves) its.order.Erase({score_[U(job)], job});
}

void ScoreQueue::Track(const ClusterView& view, bool follows) {
  if (known_ && follows) {
    for (int job : view.changed()) {
      if (listed_[U(job)]) Remove(view, job);  // also if it waits: it may have run meanwhile
      if (view.IsWaiting(job)) Add(view, job);
    }
    return;
  }
  known_ = true;
  seconds_.resize(U(view.num_types()));
  classes_.clear();
  score_.resize(U(view.num_jobs()));
  listed_.assign(U(view.num_jobs()), false);
  for (int job : view.waiting()) Add(view, job);
}

bool ScoreQueue::NoneFits(const Plan& plan) const {
  int room = 0;
  for (int type = 0; type < static_cast<int>(seconds_.size()); ++type) room = std::max(room, plan.room(type));
  return NoneFits(room);
}

bool ScoreQueue::NoneFits(int room) const {
  for (const GangClass& its : classes_) {
    if (its.gang > room) return true;
    if (its.count > 0) return false;
  }
  return true;
}

void ScoreQueue::Rewind(const ClusterView& view) {
  at_ = JobTree::kNone;
  if (!rule_.moves) return;
  view_ = &view;
  narrowed_ = false;
  heap_.clear();
  for (int job : view.waiting()) heap_.push_back({rule_.score(view, job), job});
  std::make_heap(heap_.begin(), heap_.end(), Later);
}

int ScoreQueue::Next() {
  const Entry after = at_;
  at_ = JobTree::kNone;
  if (rule_.moves) {
    if (heap_.empty()) return -1;
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    at_ = heap_.back();
    heap_.pop_back();
    return at_.job;
  }
  for (const GangClass& its : classes_) {
    const Entry entry = its.order.First(after.job < 0 ? nullptr : &after);
    if (entry.job >= 0 && (at_.job < 0 || entry < at_)) at_ = entry;
  }
  return at_.job;
}

int ScoreQueue::Next(const Opening& opening) {
  if (rule_.moves) {
    const auto fits = [&](const Entry& entry) {
      Seconds(*view_, entry.job);
      return opening.Allows(view_->Gang(entry.job), seconds_);
    };
    if (!narrowed_) {
      std::erase_if(heap_, [&](const Entry& entry) { return !fits(entry); });
      std::make_heap(heap_.begin(), heap_.end(), Later);
      narrowed_ = true;
    }
    int job = Next();
    while (job >= 0 && !fits(at_)) job = Next();
    return job;
  }
  const Entry after = at_;
  at_ = JobTree::kNone;
  for (const GangClass& its : classes_) {
    const auto fits = [&](std::span<const double> seconds) { return opening.Allows(its.gang, seconds); };
    const Entry entry = its.order.First(after.job < 0 ? nullptr : &after, fits);
    if (entry.job >= 0 && (at_.job < 0 || entry < at_)) at_ = entry;
  }
  return at_.job;
}

}  // namespace berth
