#include "baselines/gavel/round_mechanism.hpp"

#include <algorithm>
#include <numeric>

namespace berth::gavel {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

void RoundMechanism::Reset(const ClusterView& view, const MechanismOptions& options) {
  options_ = options;
  half_round_ = view.clock().round_s / 2.0;
  last_reset_ = 0.0;
  dirty_ = true;
  random_.emplace(view.seed() + 5);
  reverse_order_.resize(U(view.num_types()));
  std::iota(reverse_order_.begin(), reverse_order_.end(), 0);
  std::sort(reverse_order_.begin(), reverse_order_.end(),
            [&view](int a, int b) { return view.types()[U(a)].name > view.types()[U(b)].name; });
  order_ = reverse_order_;
  jobs_.clear();
  const std::size_t jobs = U(view.num_jobs()), types = U(view.num_types());
  worktime_.assign(types, 0.0);
  for (auto* table : {&jobtime_, &deficit_, &priority_, &alloc_}) table->assign(jobs * types, 0.0);
  for (auto* flags : {&tracked_, &in_alloc_, &taken_job_, &placed_}) flags->assign(jobs, 0);
  taken_device_.assign(U(view.num_gpus()), 0);
  attained_.assign(jobs, 0.0);
  ran_on_.assign(jobs, -1);
}

void RoundMechanism::Decide(const ClusterView& view, AllocationSource& source, Decision& decision) {
  // The reference's step 1: when nothing ran and no arrival is left, the next reset is due at once.
  const bool idle = view.segments().empty() && view.arrived().empty();
  if (view.clock().kind == ClockKind::kReferenceRounds && idle && view.arrivals_over()) last_reset_ = 0.0;
  AccountTime(view);
  UpdateJobs(view);

  const double since = view.now() - last_reset_;
  const bool due = since >= options_.min_reset_s || last_reset_ == 0.0 || !Rounds(view);
  if (dirty_ && due) ResetAllocation(view, source);
  UpdatePriorities(view);
  Select(view);
  if (taken_.empty() && dirty_ && view.clock().kind == ClockKind::kRounds) {
    ResetAllocation(view, source);
    UpdatePriorities(view);
    Select(view);
  }
  Place(view, decision);
}

// Once per job, not times its gang.
void RoundMechanism::AccountTime(const ClusterView& view) {
  const auto add = [this](int job, int type, double seconds) {
    jobtime_[At(job, type)] += seconds;
    worktime_[U(type)] += seconds;
  };
  if (Rounds(view)) {
    for (const Segment& segment : view.segments()) {
      if (tracked_[U(segment.job)] != 0) add(segment.job, segment.type, segment.seconds);
    }
    return;
  }
  for (int job : jobs_) {
    const double attained = view.AttainedSeconds(job);
    if (ran_on_[U(job)] >= 0) add(job, ran_on_[U(job)], attained - attained_[U(job)]);
    attained_[U(job)] = attained;
  }
}

void RoundMechanism::UpdateJobs(const ClusterView& view) {
  const std::size_t before = jobs_.size();
  std::erase_if(jobs_, [&view](int job) { return view.IsDone(job); });
  dirty_ = dirty_ || jobs_.size() != before;
  for (int job : view.active()) {
    if (tracked_[U(job)] != 0) continue;
    tracked_[U(job)] = 1;
    jobs_.push_back(job);
    for (int type = 0; type < view.num_types(); ++type) jobtime_[At(job, type)] = half_round_;
    if (!Rounds(view)) attained_[U(job)] = view.AttainedSeconds(job);
    dirty_ = true;
  }
}

void RoundMechanism::ResetAllocation(const ClusterView& view, AllocationSource& source) {
  const double since = view.now() - last_reset_;
  for (int type = 0; type < view.num_types(); ++type) {
    worktime_[U(type)] = 0.0;
    for (int job : jobs_) {
      const std::size_t at = At(job, type);
      const double due = in_alloc_[U(job)] != 0 ? alloc_[at] * since : 0.0;
      deficit_[at] += due - (jobtime_[at] - half_round_);
      jobtime_[at] = half_round_;
      worktime_[U(type)] += half_round_;
    }
  }
  last_reset_ = view.now();
  dirty_ = false;
  fresh_.assign(jobs_.size() * worktime_.size(), 0.0);
  if (!jobs_.empty()) source.Allocate(view, jobs_, fresh_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    in_alloc_[U(jobs_[i])] = 1;
    for (std::size_t type = 0; type < worktime_.size(); ++type) {
      alloc_[U(jobs_[i]) * worktime_.size() + type] = fresh_[i * worktime_.size() + type];
    }
  }
}

void RoundMechanism::UpdatePriorities(const ClusterView& view) {
  for (int job : jobs_) {
    for (int type = 0; type < view.num_types(); ++type) {
      const std::size_t at = At(job, type);
      double priority = 0.0;
      if (in_alloc_[U(job)] != 0 && alloc_[at] != 0.0 && view.Rate(job, type) > 0.0) {
        const double worked = worktime_[U(type)];
        const double fraction = worked == 0.0 ? 0.0 : jobtime_[at] / worked;
        priority = fraction > 0.0 ? alloc_[at] / fraction : alloc_[at] * 1e9;
      }
      priority_[at] = priority;
    }
  }
}

void RoundMechanism::Select(const ClusterView& view) {
  order_ = reverse_order_;
  if (options_.shuffle_types) random_->Shuffle(order_);
  for (int job : jobs_) taken_job_[U(job)] = 0;
  taken_.clear();
  for (int type : order_) {
    sorted_ = jobs_;
    std::sort(sorted_.begin(), sorted_.end(), [this, type](int a, int b) {
      const std::size_t x = At(a, type), y = At(b, type);
      if (priority_[x] != priority_[y]) return priority_[x] > priority_[y];
      if (deficit_[x] != deficit_[y]) return deficit_[x] > deficit_[y];
      if (alloc_[x] != alloc_[y]) return alloc_[x] > alloc_[y];
      return a < b;
    });
    int free = view.types()[U(type)].count;
    for (int job : sorted_) {
      if (free == 0) break;
      const int gang = view.Gang(job);
      if (taken_job_[U(job)] != 0 || view.Rate(job, type) <= 0.0 || gang > free) continue;
      if (options_.only_positive && priority_[At(job, type)] <= 0.0) continue;
      taken_job_[U(job)] = 1;
      free -= gang;
      // A job that arrived after the last reset uses up room but is not run (gavel/SPEC.md §7 step 7).
      if (in_alloc_[U(job)] != 0) taken_.push_back({job, type, gang, static_cast<int>(taken_.size())});
    }
  }
}

void RoundMechanism::Place(const ClusterView& view, Decision& decision) {
  std::sort(taken_.begin(), taken_.end(), [](const Taken& a, const Taken& b) {
    return a.gang != b.gang ? a.gang > b.gang : a.rank < b.rank;
  });
  std::fill(taken_device_.begin(), taken_device_.end(), 0);
  for (int job : jobs_) placed_[U(job)] = 0, ran_on_[U(job)] = -1;
  for (int type = 0; type < view.num_types(); ++type) PlaceType(view, type, decision);
  bool left_out = false;
  for (int job : jobs_) {
    if (placed_[U(job)] != 0) continue;
    left_out = true;
    if (view.IsRunning(job)) decision.Stop(job);
  }
  if (!Rounds(view) && left_out) decision.wake_at = view.now() + 2.0 * half_round_;
}

// Gang by gang, largest first: jobs that ran here keep their GPUs if none is used yet, then the others take
// GPUs server by server. A server's devices are numbered consecutively, so draining one server before the
// next, the pointer only moving forward, is a walk over the device numbers.
void RoundMechanism::PlaceType(const ClusterView& view, int type, Decision& decision) {
  int next = view.first_device(type);
  for (std::size_t begin = 0; begin < taken_.size();) {
    std::size_t end = begin;
    while (end < taken_.size() && taken_[end].gang == taken_[begin].gang) ++end;
    const std::span<const Taken> level(taken_.data() + begin, end - begin);
    begin = end;
    for (const auto& [job, its_type, gang, rank] : level) {
      if (its_type != type || view.TypeOf(job) != type) continue;
      const auto here = view.Devices(job);
      if (std::any_of(here.begin(), here.end(), [this](int d) { return taken_device_[U(d)] != 0; })) continue;
      for (int device : here) taken_device_[U(device)] = 1;
      placed_[U(job)] = 1;
      ran_on_[U(job)] = type;
    }
    for (const auto& [job, its_type, gang, rank] : level) {
      if (its_type != type || placed_[U(job)] != 0) continue;
      devices_.clear();
      for (; static_cast<int>(devices_.size()) < gang; ++next) {
        if (taken_device_[U(next)] != 0) continue;
        taken_device_[U(next)] = 1;
        devices_.push_back(next);
      }
      placed_[U(job)] = 1;
      ran_on_[U(job)] = type;
      if (view.IsRunning(job)) {
        decision.Move(job, type, devices_);
      } else {
        decision.Start(job, type, devices_);
      }
    }
  }
}

}  // namespace berth::gavel
