#include "baselines/slurm/backfill.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kFirstWindow = 30.0;  // s; releases that lie closer are looked at together

std::vector<int> NodesOfTakes(const std::vector<SlurmTake>& takes) {
  std::vector<int> nodes;
  for (const SlurmTake& take : takes) nodes.push_back(take.node);
  return nodes;
}

}  // namespace

// Jobs that ask for one of several types by a constraint are tried on each by itself (_try_sched): the one on
// which they can start first is theirs.
double SlurmBackfill::WillRun(const ClusterView& view, SlurmNodeTable& nodes, int job,
                              const std::vector<int>& free) {
  if (!settings_.spread) return WillRunOn(view, nodes, job, free);
  const std::vector<char> all = may_;
  std::vector<SlurmTake> best;
  double first = -1.0;
  for (const int type : nodes.types()) {
    for (int n = 0; n < nodes.size(); ++n) may_[U(n)] = all[U(n)] != 0 && nodes.TypeOf(n) == type ? 1 : 0;
    const double start = WillRunOn(view, nodes, job, free);
    if (start < 0.0 || (first >= 0.0 && start >= first)) continue;
    first = start, best = takes_;
  }
  takes_ = best, may_ = all;
  return first;
}

double SlurmBackfill::WillRunOn(const ClusterView& view, SlurmNodeTable& nodes, int job,
                                const std::vector<int>& free) {
  if (nodes.Choose(view, job, free, may_, takes_)) return view.now();
  future_ = free;
  double window = kFirstWindow, first_end = 0.0;
  std::size_t at = 0;
  const auto overlaps = [&](const SlurmRunning& other) {
    return std::any_of(other.takes.begin(), other.takes.end(),
                       [&](const SlurmTake& take) { return may_[U(take.node)] != 0; });
  };
  const auto beyond = [&](std::size_t next) {
    return next < running_.size() && running_[next].end > first_end + window;
  };
  while (at < running_.size()) {
    const SlurmRunning* last = nullptr;
    while (at < running_.size()) {
      const SlurmRunning& next = running_[at++];
      if (!overlaps(next)) continue;
      if (first_end == 0.0) first_end = next.end + (window - std::fmod(next.end, window));
      last = &next;
      for (const SlurmTake& take : next.takes) future_[U(take.node)] += take.gpus;
      // Only behind a job of these nodes, and whichever comes next: one that is passed over stops nothing,
      // and the next of these nodes then counts as well, however late it ends.
      if (beyond(at)) break;
    }
    if (last == nullptr) return -1.0;
    const std::size_t peeked = static_cast<std::size_t>(last - running_.data()) + 1;
    do window = settings_.bf_window_scale > 0.0 ? window + settings_.bf_window_scale : 2.0 * window;
    while (beyond(peeked));
    if (nodes.Choose(view, job, future_, may_, takes_))
      return last->end > view.now() ? last->end : view.now() + 1.0;
  }
  return -1.0;
}

// True where it starts now, on takes_; otherwise it may have been promised nodes.
bool SlurmBackfill::Try(const ClusterView& view, SlurmNodeTable& nodes, const SlurmPending& pending,
                        const std::vector<int>& free) {
  const double now = view.now(), resolution = settings_.bf_resolution;
  double from = now;
  for (int tries = 0; tries < 2 * space_.windows() + 8; ++tries) {
    may_ = nodes.InPartition(pending.partition);
    const double later = space_.Narrow(from, std::max(from, now) + pending.limit, may_);
    double start = -1.0;
    if (std::find(may_.begin(), may_.end(), 1) != may_.end()) start = WillRun(view, nodes, pending.job, free);
    if (start < 0.0) {
      if (later < 0.0) return false;
      from = later;
      continue;
    }
    start = std::max(start, from);
    if (start <= now) return true;
    if (later >= 0.0 && start > later) {  // other nodes are free before that
      from = later;
      continue;
    }
    if (!pending.may_reserve || start > now + settings_.bf_window) return false;
    const double begin = std::floor(start / resolution) * resolution;
    const double end = std::floor((start + pending.limit) / resolution) * resolution;
    const std::vector<int> chosen = NodesOfTakes(takes_);
    if (space_.Promised(begin, end, chosen)) {
      from = start;
      continue;
    }
    space_.Promise(begin, end, chosen);
    return false;
  }
  return false;
}

void SlurmBackfill::Pass(
    const ClusterView& view, SlurmNodeTable& nodes, const std::vector<SlurmPending>& queue,
    std::vector<SlurmRunning> running, std::vector<int>& free,
    const std::function<void(const SlurmPending&, const std::vector<SlurmTake>&)>& start) {
  running_ = std::move(running);
  const auto sooner = [](const SlurmRunning& a, const SlurmRunning& b) { return a.end < b.end; };
  std::stable_sort(running_.begin(), running_.end(), sooner);
  space_.Reset(view.now(), view.now() + settings_.bf_window, nodes.size());
  int tested = 0, started = 0;
  std::map<int, int> of_partition, of_user;
  for (const SlurmPending& pending : queue) {
    if (settings_.bf_max_job_part > 0 && ++of_partition[pending.partition] > settings_.bf_max_job_part)
      continue;
    if (settings_.bf_max_job_user > 0 && ++of_user[pending.user] > settings_.bf_max_job_user) continue;
    if (settings_.bf_max_job_test > 0 && ++tested > settings_.bf_max_job_test) break;
    if (!Try(view, nodes, pending, free)) continue;
    start(pending, takes_);
    SlurmRunning now_running{view.now() + pending.limit, takes_};
    running_.insert(std::upper_bound(running_.begin(), running_.end(), now_running, sooner),
                    std::move(now_running));
    if (settings_.bf_max_job_start > 0 && ++started >= settings_.bf_max_job_start) break;
  }
}

}  // namespace berth
