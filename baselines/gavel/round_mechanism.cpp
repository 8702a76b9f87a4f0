#include "baselines/gavel/round_mechanism.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/ranking.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
// Ties go to single jobs, then by arrival or by the order of the pairs.
bool RoundMechanism::Before(const Queued& a, const Queued& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.deficit != b.deficit) return a.deficit > b.deficit;
  if (a.alloc != b.alloc) return a.alloc > b.alloc;
  return a.unit < b.unit;
}

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
  ran_as_.assign(jobs, -1);
  pairs_.clear();
  live_pairs_.clear();
  old_deficit_.clear();
}

void RoundMechanism::Decide(const ClusterView& view, AllocationSource& source, Decision& decision) {
  // As the reference's main loop: when nothing ran and no arrival is left, the next reset is due at once.
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

// Once per unit, not times its gang.
void RoundMechanism::AccountTime(const ClusterView& view) {
  counted_.assign(pairs_.size(), 0);
  const auto add = [this](int job, int type, double seconds) {
    const int unit = ran_as_[U(job)];
    if (IsPair(unit)) {  // the first of the two that is seen ran the longer
      std::uint8_t& counted = counted_[U(unit) - tracked_.size()];
      if (counted != 0) return;
      counted = 1;
    }
    jobtime_[At(unit, type)] += seconds;
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
  std::erase_if(live_pairs_,
                [&](int pair) { return view.IsDone(PairOf(pair)[0]) || view.IsDone(PairOf(pair)[1]); });
  for (int job : view.active()) {
    if (tracked_[U(job)] != 0) continue;
    tracked_[U(job)] = 1;
    jobs_.push_back(job);
    for (int type = 0; type < view.num_types(); ++type) jobtime_[At(job, type)] = half_round_;
    if (!Rounds(view)) attained_[U(job)] = view.AttainedSeconds(job);
    dirty_ = true;
  }
  // A job that waited for others (feature stages) comes after jobs that arrived later.
  if (!std::is_sorted(jobs_.begin(), jobs_.end())) std::sort(jobs_.begin(), jobs_.end());
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
    for (int pair : live_pairs_) {
      const std::size_t at = At(pair, type);
      deficit_[at] += alloc_[at] * since - (jobtime_[at] - half_round_);
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
  std::erase_if(old_deficit_, [&view](const auto& entry) {
    return view.IsDone(entry.first[0]) || view.IsDone(entry.first[1]);
  });
  TakePairs(jobs_.empty() ? nullptr : source.pairs());
}

// A pair's deficit outlives the allocations that leave it out: it is then due nothing and receives nothing.
void RoundMechanism::TakePairs(const PairShares* pairs) {
  const std::size_t types = worktime_.size(), jobs = tracked_.size();
  for (int pair : live_pairs_) {
    const auto row = deficit_.begin() + static_cast<std::ptrdiff_t>(At(pair, 0));
    old_deficit_[PairOf(pair)].assign(row, row + static_cast<std::ptrdiff_t>(types));
  }
  pairs_.clear();
  live_pairs_.clear();
  if (pairs != nullptr) pairs_ = pairs->jobs;
  for (auto* table : {&jobtime_, &deficit_, &priority_, &alloc_})
    table->resize((jobs + pairs_.size()) * types);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const int unit = static_cast<int>(jobs + p);
    live_pairs_.push_back(unit);
    const auto old = old_deficit_.find(pairs_[p]);
    for (std::size_t type = 0; type < types; ++type) {
      const std::size_t at = At(unit, static_cast<int>(type));
      jobtime_[at] = half_round_;
      worktime_[type] += half_round_;
      alloc_[at] = pairs->share[p * types + type];
      deficit_[at] = old == old_deficit_.end() ? 0.0 : old->second[type];
    }
  }
}

bool RoundMechanism::CanRun(const ClusterView& view, int unit, int type) const {
  if (!IsPair(unit)) return view.Rate(unit, type) > 0.0;
  return view.PairRate(PairOf(unit)[0], PairOf(unit)[1], type) > 0.0;
}

void RoundMechanism::UpdatePriorities(const ClusterView& view) {
  const auto update = [&](int unit) {
    for (int type = 0; type < view.num_types(); ++type) {
      const std::size_t at = At(unit, type);
      double priority = 0.0;
      if (alloc_[at] != 0.0 && CanRun(view, unit, type)) {
        const double worked = worktime_[U(type)];
        const double fraction = worked == 0.0 ? 0.0 : jobtime_[at] / worked;
        priority = fraction > 0.0 ? alloc_[at] / fraction : alloc_[at] * 1e9;
      }
      priority_[at] = priority;
    }
  };
  for (int job : jobs_) update(job);  // one that came after the reset has alloc 0
  for (int pair : live_pairs_) update(pair);
}

// Type by type the units that may run there, best first, until its GPUs are gone. Only as many as there are
// free GPUs are put in order at a time: the order is total, so what is taken is what sorting all would give.
void RoundMechanism::Select(const ClusterView& view) {
  order_ = reverse_order_;
  if (options_.shuffle_types) random_->Shuffle(order_);
  for (int job : jobs_) taken_job_[U(job)] = 0;
  taken_.clear();
  for (int type : order_) {
    int free = view.types()[U(type)].count;
    queue_.clear();
    const auto add = [&](int unit) {
      const int job = IsPair(unit) ? PairOf(unit)[0] : unit, other = IsPair(unit) ? PairOf(unit)[1] : unit;
      const std::size_t at = At(unit, type);
      if (taken_job_[U(job)] != 0 || taken_job_[U(other)] != 0 || view.Gang(job) > free ||
          !CanRun(view, unit, type) || (options_.only_positive && priority_[at] <= 0.0)) {
        return;
      }
      queue_.push_back({priority_[at], deficit_[at], alloc_[at], unit});
    };
    for (int job : jobs_) add(job);
    for (int pair : live_pairs_) add(pair);
    for (auto begin = queue_.begin(); free > 0 && begin != queue_.end();) {
      const auto end = begin + std::min<std::ptrdiff_t>(queue_.end() - begin, free);
      if (end != queue_.end()) std::nth_element(begin, end, queue_.end(), Before);
      std::sort(begin, end, Before);
      for (; begin != end && free > 0; ++begin) free -= Take(view, begin->unit, type, free);
      begin = end;
    }
  }
}

// GPUs that the unit takes of those free: 0 when a member runs already or it does not fit.
int RoundMechanism::Take(const ClusterView& view, int unit, int type, int free) {
  const int job = IsPair(unit) ? PairOf(unit)[0] : unit, other = IsPair(unit) ? PairOf(unit)[1] : unit;
  const int gang = view.Gang(job);
  if (taken_job_[U(job)] != 0 || taken_job_[U(other)] != 0 || gang > free) return 0;
  taken_job_[U(job)] = taken_job_[U(other)] = 1;
  // A job that arrived after the last reset uses up room but is not run, as in the reference.
  if (in_alloc_[U(job)] != 0) taken_.push_back({unit, type, gang, static_cast<int>(taken_.size())});
  return gang;
}

void RoundMechanism::Place(const ClusterView& view, Decision& decision) {
  std::sort(taken_.begin(), taken_.end(), [](const Taken& a, const Taken& b) {
    return a.gang != b.gang ? a.gang > b.gang : a.rank < b.rank;
  });
  for (int device = 0; device < view.num_gpus(); ++device) taken_device_[U(device)] = !view.InService(device);
  for (int job : jobs_) placed_[U(job)] = 0, ran_on_[U(job)] = -1, ran_as_[U(job)] = job;
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
    bool in_part = false;
    for (const auto& [unit, its_type, gang, rank] : level) {
      if (its_type == type && !Stays(view, unit, type)) in_part = in_part || gang == 1;
    }
    for (const auto& [unit, its_type, gang, rank] : level) {
      if (in_part && its_type == type) StaysInPart(view, unit, type, decision);
    }
    for (const auto& [unit, its_type, gang, rank] : level) {
      const int job = IsPair(unit) ? PairOf(unit)[0] : unit;
      if (its_type != type || placed_[U(job)] != 0) continue;
      devices_.clear();
      const int named = NamesDevices(view) ? gang : 0;
      for (; static_cast<int>(devices_.size()) < named; ++next) {
        if (taken_device_[U(next)] != 0) continue;
        taken_device_[U(next)] = 1;
        devices_.push_back(next);
      }
      SetPlaced(unit, type);
      if (view.IsRunning(job)) {
        decision.Move(job, type, devices_);
      } else {
        decision.Start(job, type, devices_);
      }
      if (IsPair(unit)) decision.Pack(PairOf(unit)[1], job);
    }
  }
}

void RoundMechanism::SetPlaced(int unit, int type) {
  const auto set = [&](int job) { placed_[U(job)] = 1, ran_on_[U(job)] = type, ran_as_[U(job)] = unit; };
  set(IsPair(unit) ? PairOf(unit)[0] : unit);
  if (IsPair(unit)) set(PairOf(unit)[1]);
}

// A unit that ran here as it is keeps its GPUs, if none is used yet.
bool RoundMechanism::Stays(const ClusterView& view, int unit, int type) {
  const int job = IsPair(unit) ? PairOf(unit)[0] : unit;
  if (view.TypeOf(job) != type || view.Partner(job) != (IsPair(unit) ? PairOf(unit)[1] : -1)) return false;
  const auto here = view.Devices(job);
  if (std::any_of(here.begin(), here.end(), [this](int d) { return taken_device_[U(d)] != 0; })) return false;
  for (int device : here) taken_device_[U(device)] = 1;
  SetPlaced(unit, type);
  return true;
}

// A unit that did not, but one of whose jobs ran here: that one keeps its GPU, and the other comes there.
void RoundMechanism::StaysInPart(const ClusterView& view, int unit, int type, Decision& decision) {
  const std::array<int, 2> jobs = IsPair(unit) ? PairOf(unit) : std::array<int, 2>{unit, unit};
  for (int k = 0; k < (IsPair(unit) ? 2 : 1); ++k) {
    const int job = jobs[U(k)];
    if (placed_[U(job)] != 0 || view.TypeOf(job) != type || taken_device_[U(view.Devices(job).front())] != 0)
      continue;
    taken_device_[U(view.Devices(job).front())] = 1;
    SetPlaced(unit, type);
    if (IsPair(unit)) decision.Pack(jobs[U(1 - k)], job);
    return;
  }
}

}  // namespace berth::gavel
