#include "baselines/queue/score_queue.hpp"

#include <algorithm>

namespace berth {
namespace {

constexpr std::size_t kFew = 32;  // arrivals up to which inserting each beats sorting all

}  // namespace

void ScoreQueue::Track(const ClusterView& view) {
  if (!known_) {
    entries_.clear(), jobs_.clear();
    fresh_.assign(view.waiting().begin(), view.waiting().end());
    known_ = true;
    return;
  }
  fresh_.insert(fresh_.end(), view.arrived().begin(), view.arrived().end());
}

// Brings `entries_` up to the waiting jobs. Where somebody else stops or rejects jobs the count tells, and
// all are scored anew.
void ScoreQueue::Merge(const ClusterView& view) {
  if (left_) std::erase_if(entries_, [&](const Entry& entry) { return !view.IsWaiting(entry.second); });
  if (entries_.size() + fresh_.size() != view.waiting().size()) {
    entries_.clear();
    fresh_.assign(view.waiting().begin(), view.waiting().end());
  }
  if (rule_.moves) {
    for (Entry& entry : entries_) entry.first = rule_.score(view, entry.second);
  }
  const bool few = !rule_.moves && fresh_.size() <= kFew;
  for (int job : fresh_) {
    const Entry entry{rule_.score(view, job), job};
    entries_.insert(few ? std::upper_bound(entries_.begin(), entries_.end(), entry) : entries_.end(), entry);
  }
  // A total order: equal scores go by the job's place in the scenario, which is the order of arrival.
  if (!few) std::sort(entries_.begin(), entries_.end());
}

const std::vector<int>& ScoreQueue::Sorted(const ClusterView& view) {
  const bool current = !rule_.moves || sorted_at_ == view.now();
  if (current && !left_ && fresh_.empty() && jobs_.size() == view.waiting().size()) return jobs_;
  Merge(view);
  sorted_at_ = view.now();
  left_ = false;
  fresh_.clear();
  jobs_.clear();
  for (const Entry& entry : entries_) jobs_.push_back(entry.second);
  return jobs_;
}

}  // namespace berth
