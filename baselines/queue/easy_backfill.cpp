#include "baselines/queue/easy_backfill.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

// A key is the estimate of another moment. It differs from today's by the rounding of a handful of sums and
// products of times of this size: some 1e-15 of it.
constexpr double kRounding = 1e-13;
constexpr std::size_t kMostPending = 4096;  // beyond it, looking at all that runs is as cheap

}  // namespace

void ReleaseOrder::Track(const ClusterView& view, bool follows) {
  known_ = known_ && follows;
  if (!known_) return;
  pending_.insert(pending_.end(), view.changed().begin(), view.changed().end());
  known_ = pending_.size() <= kMostPending;
}

void ReleaseOrder::Add(const ClusterView& view, int job) {
  Place& place = place_[U(job)];
  place.type = static_cast<std::int8_t>(view.TypeOf(job));
  place.steady = ReleaseIsSteady(view, job);
  OfType& its = types_[U(place.type)];
  if (!place.steady) return its.unsteady.push_back(job);
  place.key = EstimatedEnd(view, job);
  its.steady.Insert({place.key, job});
}

void ReleaseOrder::Remove(int job) {
  Place& place = place_[U(job)];
  OfType& its = types_[U(place.type)];
  if (place.steady) {
    its.steady.Erase({place.key, job});
  } else {
    its.unsteady.erase(std::find(its.unsteady.begin(), its.unsteady.end(), job));
  }
  place.type = -1;
}

void ReleaseOrder::Update(const ClusterView& view) {
  if (known_) {
    for (int job : pending_) {
      if (place_[U(job)].type >= 0) Remove(job);
      if (view.IsRunning(job)) Add(view, job);
    }
  } else {
    types_.assign(U(view.num_types()), OfType());
    place_.assign(U(view.num_jobs()), Place());
    for (int job : view.running()) Add(view, job);
  }
  known_ = true;
  pending_.clear();
}

const std::vector<Release>& ReleaseOrder::First(const ClusterView& view, const Plan& plan, int type,
                                                int gpus) {
  Update(view);
  first_.clear();
  const OfType& its = types_[U(type)];
  const double slack = kRounding * view.now();
  const auto release = [&](int job) {
    return Release{EstimatedRelease(view, job), job, GivenBack(view, job)};
  };
  // Everybody whose estimate may be as early as the one that completes the `gpus`, by their keys.
  double horizon = kNever;
  int back = 0;
  for (auto entry = its.steady.First(); entry.job >= 0; entry = its.steady.First(&entry)) {
    const double rounding = kRounding * std::abs(entry.key) + slack;
    if (ReleaseAfter(view, entry.key, -rounding) > horizon) break;
    first_.push_back(release(entry.job));
    const bool enough = back >= gpus;
    back += first_.back().gang;
    if (enough || back < gpus) continue;
    // Who is overdue counts as released a moment from now, so nobody's horizon is earlier than that.
    const double soonest = std::nextafter(view.now(), kNever);
    horizon = ReleaseAfter(view, std::max(entry.key + rounding, soonest), 0.0);
  }
  for (int job : its.unsteady) first_.push_back(release(job));
  for (int job : plan.placed()) {
    if (plan.TypeOf(job) != type) continue;
    first_.push_back({EstimatedRelease(view, job, type, view.now()), job, view.Gang(job)});
  }
  std::sort(first_.begin(), first_.end(), [](const Release& a, const Release& b) {
    return a.time != b.time ? a.time < b.time : a.job < b.job;
  });
  return first_;
}

// Where and when the head can start, given the running jobs and those just placed. Of types with the same
// start the one on which it runs fastest.
Reservation EasyBackfill::Reserve(const ClusterView& view, int head, const Plan& plan) {
  Reservation best;
  for (int type = 0; type < view.num_types(); ++type) {
    const int count = view.types()[static_cast<std::size_t>(type)].count;
    if (view.Rate(head, type) <= 0.0 || view.Gang(head) > count) continue;
    int free = plan.room(type);
    for (const Release& release : releases_.First(view, plan, type, view.Gang(head) - free)) {
      free += release.gang;
      if (free < view.Gang(head)) continue;
      const bool faster = best.type >= 0 && view.Rate(head, type) > view.Rate(head, best.type);
      if (release.time < best.start || (release.time == best.start && faster)) {
        best = {type, release.time, free - view.Gang(head)};
      }
      break;
    }
  }
  return best;
}

void EasyBackfill::Fill(const ClusterView& view, int head, ScoreQueue& queue, Plan& plan) {
  Opening opening(view, plan);
  if (queue.NoneFits(plan)) return;
  opening.reservation = Reserve(view, head, plan);
  for (int job = queue.Next(opening); job >= 0; job = queue.Next(opening)) {
    if (plan.Placed(job)) continue;  // before the head, in another order than this queue's
    int best = -1;
    bool best_spare = false;
    for (int type = 0; type < view.num_types(); ++type) {
      const double seconds = EstimatedHold(view, job, type);
      if (!opening.Allows(view.Gang(job), type, seconds)) continue;
      if (best >= 0 && !BetterType(view, plan, job, type, best, place_)) continue;
      best = type, best_spare = opening.UsesSpare(type, seconds);
    }
    plan.Put(view, job, best);
    if (best_spare) opening.reservation.spare -= view.Gang(job);
  }
}

}  // namespace berth
