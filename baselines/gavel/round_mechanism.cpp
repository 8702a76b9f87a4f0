#include "baselines/gavel/round_mechanism.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
void RoundMechanism::Reset(const ClusterView& view, const MechanismOptions& options) {
  options_ = options;
  half_round_ = view.clock().round_s / 2.0;
  last_reset_ = 0.0;
  look_again_ = -kNever;
  const Costs& costs = view.costs();
  starts_cost_ = view.clock().kind != ClockKind::kReferenceRounds &&
                 (!view.plain() || costs.checkpoint_s + costs.restore_s + costs.migration_s > 0.0);
  dirty_ = true;
  room_.assign(U(view.num_types()), 0);
  apart_.clear();
  random_.emplace(view.seed() + 5);
  reverse_order_.resize(U(view.num_types()));
  std::iota(reverse_order_.begin(), reverse_order_.end(), 0);
  std::sort(reverse_order_.begin(), reverse_order_.end(),
            [&view](int a, int b) { return view.types()[U(a)].name > view.types()[U(b)].name; });
  order_ = reverse_order_;
  jobs_.clear();
  taken_.assign(U(view.num_types()), {});
  queues_.assign(U(view.num_types()), {});
  const std::size_t jobs = U(view.num_jobs()), types = U(view.num_types());
  worktime_.assign(types, 0.0);
  rows_.assign(jobs * types, {});
  for (auto* flags : {&tracked_, &in_alloc_, &taken_job_, &placed_}) flags->assign(jobs, 0);
  taken_device_.assign(U(view.num_gpus()), 0);
  attained_.assign(jobs, 0.0);
  starting_.assign(jobs, 0);
  started_.assign(starts_cost_ ? jobs : 0, -kNever);
  steps_.assign(starts_cost_ ? jobs : 0, 0.0);
  from_steps_.assign(starts_cost_ ? jobs : 0, 0.0);
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
  if (starts_cost_) FollowStarts(view);
  if (Holds(view)) {
    if (look_again_ < kNever) decision.wake_at = look_again_;
    return;
  }

  const double since = SinceReset(view);
  const bool due = since >= options_.min_reset_s || last_reset_ == 0.0 || !Rounds(view);
  if (dirty_ && due) ResetAllocation(view, source);
  UpdatePriorities(view);
  Select(view);
  if (NoneTaken() && dirty_ && view.clock().kind == ClockKind::kRounds) {
    ResetAllocation(view, source);
    UpdatePriorities(view);
    Select(view);
  }
  Place(view, decision);
}

// In whole rounds: a live cluster is looked at some moment after each boundary, not the same each time.
double RoundMechanism::SinceReset(const ClusterView& view) const {
  const double since = view.now() - last_reset_, round_s = view.clock().round_s;
  return view.clock().kind == ClockKind::kRounds ? round_s * std::round(since / round_s) : since;
}

// Nobody came or went, no GPU did (UpdateJobs), and what was chosen runs.
bool RoundMechanism::Holds(const ClusterView& view) const {
  if (Rounds(view) || dirty_ || view.now() >= look_again_) return false;
  return std::all_of(jobs_.begin(), jobs_.end(), [&](int job) {
    return placed_[U(job)] == 0 || (view.IsRunning(job) && view.TypeOf(job) == ran_on_[U(job)]);
  });
}

void RoundMechanism::FollowStarts(const ClusterView& view) {
  for (int job : jobs_) {
    const double steps = view.AttainedSteps(job);
    if (view.IsRunning(job) && view.RunStart(job) != started_[U(job)]) {
      started_[U(job)] = view.RunStart(job);
      from_steps_[U(job)] = std::min(steps_[U(job)], steps);
    }
    steps_[U(job)] = steps;
    starting_[U(job)] = view.IsRunning(job) && view.now() > started_[U(job)] && steps <= from_steps_[U(job)];
  }
}

// Before all others, each where it is.
void RoundMechanism::TakeStarting(const ClusterView& view) {
  starting_gpus_.assign(taken_.size(), 0);
  const auto take = [&](int unit, int job) {
    const int type = view.TypeOf(job);
    free_ = view.types()[U(type)].count - starting_gpus_[U(type)];
    const int before = free_;
    const Row& row = rows_[At(unit, type)];
    Take({row.priority, row.deficit, unit, TakesOf(view, job, type)}, type);
    starting_gpus_[U(type)] += before - free_;
  };
  for (int pair : live_pairs_) {
    const auto [job, other] = PairOf(pair);
    if (view.Partner(job) == other && (starting_[U(job)] != 0 || starting_[U(other)] != 0)) take(pair, job);
  }
  for (int job : jobs_) {
    if (starting_[U(job)] != 0 && view.Partner(job) < 0) take(job, job);
  }
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
    rows_[At(unit, type)].jobtime += seconds;
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
    ran_as_[U(job)] = job;
    jobs_.push_back(job);
    for (int type = 0; type < view.num_types(); ++type) rows_[At(job, type)].jobtime = half_round_;
    if (!Rounds(view)) attained_[U(job)] = view.AttainedSeconds(job);
    dirty_ = true;
  }
  std::vector<int> room, apart;
  for (const GpuType& type : view.types()) room.push_back(type.count);
  if (view.AnyLeaving()) {
    std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(apart),
                 [&view](int job) { return IsApart(view, job); });
  }
  dirty_ = dirty_ || room != room_ || apart != apart_;
  room_.swap(room), apart_.swap(apart);
  // A job that waited for others (feature stages) comes after jobs that arrived later.
  if (!std::is_sorted(jobs_.begin(), jobs_.end())) std::sort(jobs_.begin(), jobs_.end());
}

bool IsApart(const ClusterView& view, int job) {
  return NoneInService(view, job) || StaysOnLeaving(view, job, view.TypeOf(job));
}

std::vector<int> GpusToShare(const ClusterView& view) {
  std::vector<int> gpus;
  for (const GpuType& type : view.types()) gpus.push_back(type.count);
  for (int job : view.running()) {
    if (IsApart(view, job)) gpus[U(view.TypeOf(job))] -= HeldInService(view, job);
  }
  for (int& left : gpus) left = std::max(left, 0);  // of a part of the cluster
  return gpus;
}

void RoundMechanism::ResetAllocation(const ClusterView& view, AllocationSource& source) {
  const double since = SinceReset(view);
  std::fill(worktime_.begin(), worktime_.end(), 0.0);
  for (int job : jobs_) {
    for (int type = 0; type < view.num_types(); ++type) {
      Row& row = rows_[At(job, type)];
      const double due = in_alloc_[U(job)] != 0 ? row.alloc * since : 0.0;
      row.deficit += due - (row.jobtime - half_round_);
      row.jobtime = half_round_;
      worktime_[U(type)] += half_round_;
    }
  }
  for (int pair : live_pairs_) {
    for (int type = 0; type < view.num_types(); ++type) {
      Row& row = rows_[At(pair, type)];
      row.deficit += row.alloc * since - (row.jobtime - half_round_);
    }
  }
  last_reset_ = view.now();
  dirty_ = false;
  fresh_.assign(jobs_.size() * worktime_.size(), 0.0);
  if (!jobs_.empty()) source.Allocate(view, jobs_, fresh_);
  for (std::size_t i = 0; i < jobs_.size() && view.AnyLeaving(); ++i) {
    if (IsApart(view, jobs_[i])) fresh_[i * worktime_.size() + U(view.TypeOf(jobs_[i]))] = 1.0;
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    in_alloc_[U(jobs_[i])] = 1;
    for (std::size_t type = 0; type < worktime_.size(); ++type) {
      rows_[At(jobs_[i], 0) + type].alloc = fresh_[i * worktime_.size() + type];
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
    std::vector<double>& old = old_deficit_[PairOf(pair)];
    old.clear();
    for (std::size_t type = 0; type < types; ++type) old.push_back(rows_[At(pair, 0) + type].deficit);
  }
  pairs_.clear();
  live_pairs_.clear();
  if (pairs != nullptr) pairs_ = pairs->jobs;
  rows_.resize((jobs + pairs_.size()) * types);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const int unit = static_cast<int>(jobs + p);
    live_pairs_.push_back(unit);
    const auto old = old_deficit_.find(pairs_[p]);
    for (std::size_t type = 0; type < types; ++type) {
      Row& row = rows_[At(unit, 0) + type];
      row.jobtime = half_round_;
      worktime_[type] += half_round_;
      row.alloc = pairs->share[p * types + type];
      row.deficit = old == old_deficit_.end() ? 0.0 : old->second[type];
    }
  }
}

bool RoundMechanism::CanRun(const ClusterView& view, int unit, int type) const {
  if (!IsPair(unit)) return view.Rate(unit, type) > 0.0;
  return view.PairRate(PairOf(unit)[0], PairOf(unit)[1], type) > 0.0;
}

// All priorities, and type by type the units that may run there.
void RoundMechanism::UpdatePriorities(const ClusterView& view) {
  const std::size_t types = worktime_.size();
  for (auto& queue : queues_) queue.clear();
  const auto update = [&](int unit, int gang, const auto& can_run) {
    Row* row = &rows_[At(unit, 0)];
    for (std::size_t type = 0; type < types; ++type, ++row) {
      const bool can = can_run(type);
      double priority = 0.0;
      if (row->alloc != 0.0 && can) {
        const double worked = worktime_[type];
        const double fraction = worked == 0.0 ? 0.0 : row->jobtime / worked;
        priority = fraction > 0.0 ? row->alloc / fraction : row->alloc * 1e9;
      }
      row->priority = priority;
      if (can && (priority > 0.0 || !options_.only_positive))
        queues_[type].push_back({priority, row->deficit, unit, gang});
    }
  };
  for (int job : jobs_) {  // one that came after the reset has alloc 0
    const auto rates = view.Rates(job);
    update(job, view.Gang(job), [&rates](std::size_t type) { return rates[type] > 0.0; });
    const int here = view.TypeOf(job);
    if (here < 0 || queues_[U(here)].empty() || queues_[U(here)].back().unit != job) continue;
    queues_[U(here)].back().gang = TakesOf(view, job, here);
  }
  for (int pair : live_pairs_) {
    update(pair, view.Gang(PairOf(pair)[0]),
           [&](std::size_t type) { return CanRun(view, pair, static_cast<int>(type)); });
  }
}

// Type by type the units that may run there, best first, until its GPUs are gone.
void RoundMechanism::Select(const ClusterView& view) {
  order_ = reverse_order_;
  if (options_.shuffle_types) random_->Shuffle(order_);
  ordered_ = !view.plain() || !pairs_.empty();
  for (int job : jobs_) {
    taken_job_[U(job)] = 0;
    ordered_ = ordered_ || view.Partner(job) >= 0;  // who shares a GPU may contend for it with another
  }
  for (auto& taken : taken_) taken.clear();
  leaving_.clear();
  for (int job : jobs_) {
    if (!NoneInService(view, job)) continue;
    leaving_.push_back(job);
    taken_job_[U(job)] = 1;
  }
  left_.assign(taken_.size(), 0);
  if (starts_cost_) TakeStarting(view);
  for (int type : order_) {
    free_ = view.types()[U(type)].count - (starts_cost_ ? starting_gpus_[U(type)] : 0);
    std::erase_if(queues_[U(type)], [this](const Queued& queued) { return AnyTaken(queued.unit); });
    TakeBest(queues_[U(type)], type);
    left_[U(type)] += free_;
  }
  if (view.AnyLeaving()) TakeLeaving(view);
}

// Those on GPUs that are about to go, on what the others leave idle; the rest stay (Place): on no others for
// nothing, for nobody else could have them, and else on what they were taken with.
void RoundMechanism::TakeLeaving(const ClusterView& view) {
  come_.clear();
  for (int job : leaving_) {
    const Row& row = rows_[At(job, view.TypeOf(job))];
    come_.push_back({row.priority, row.deficit, job, 0});
  }
  for (auto& taken : taken_) {
    std::copy_if(taken.begin(), taken.end(), std::back_inserter(come_),
                 [&](const Queued& queued) { return StaysInPlace(view, queued); });
    std::erase_if(taken, [&](const Queued& queued) { return StaysInPlace(view, queued); });
  }
  std::sort(come_.begin(), come_.end(), [](const Queued& a, const Queued& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.deficit != b.deficit ? a.deficit > b.deficit : a.unit < b.unit;
  });
  for (const Queued& queued : come_) {
    const int job = queued.unit, here = view.TypeOf(job), gang = view.Gang(job);
    left_[U(here)] += queued.gang;
    int best = -1;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) <= 0.0 || gang > left_[U(type)]) continue;
      const double gain = best < 0 ? 1.0 : view.Rate(job, type) - view.Rate(job, best);
      if (gain > 0.0 || (gain == 0.0 && type == here)) best = type;
    }
    if (best >= 0 && in_alloc_[U(job)] != 0) {
      const Row& row = rows_[At(job, best)];
      taken_[U(best)].push_back({row.priority, row.deficit, job, gang});
      left_[U(best)] -= gang;
    } else {
      left_[U(here)] -= queued.gang;
      if (queued.gang > 0) taken_[U(here)].push_back(queued);
    }
  }
}

// What one after the other in order would take: where all fits, all of it in any order; else first what the
// better part takes, then the other. So little is put in order but what lies around the last GPU.
void RoundMechanism::TakeBest(std::span<Queued> queue, int type) {
  constexpr std::size_t kFew = 24, kMany = 256;
  const int free = free_;
  const auto before = [this, type](const Queued& a, const Queued& b) { return Before(a, b, type); };
  std::size_t kept = 0;
  std::int64_t gpus = 0;
  double least = kLpInfinity, most = 0.0;  // of the priorities above 0
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const Queued queued = queue[k];
    queue[kept] = queued;
    if (queued.gang > free) continue;
    ++kept;
    gpus += queued.gang;
    most = std::max(most, queued.priority);
    if (queued.priority > 0.0) least = std::min(least, queued.priority);
  }
  queue = queue.first(kept);
  const bool in_any_order = gpus <= free && !ordered_;
  if (in_any_order || queue.size() <= kFew) {
    if (!in_any_order) std::sort(queue.begin(), queue.end(), before);
    for (const Queued& queued : queue) Take(queued, type);
    return;
  }
  if (!ordered_ && queue.size() >= kMany && least < most) return TakeByRange(queue, type, least, most);
  const auto middle = queue.begin() + static_cast<std::ptrdiff_t>(queue.size() / 2);
  std::nth_element(queue.begin(), middle, queue.end(), before);
  TakeBest({queue.begin(), middle}, type);
  if (free_ > 0) TakeBest({middle, queue.end()}, type);
}

// The same by ranges of priorities, on a scale of the leading bits of doubles: all of the ranges that fit
// together, then the first that does not, then the others.
void RoundMechanism::TakeByRange(std::span<Queued> queue, int type, double least, double most) {
  const auto bits = [](double priority) { return std::bit_cast<std::uint64_t>(priority); };
  const std::uint64_t top = bits(most);
  const int shift = std::max(0, static_cast<int>(std::bit_width(top - bits(least))) - kRangeBits);
  const std::uint64_t last = (top - bits(least)) >> shift;  // what is 0 comes in one more
  const auto range = [&](const Queued& queued) {
    return queued.priority > 0.0 ? (top - bits(queued.priority)) >> shift : last + 1;
  };
  std::array<std::int64_t, (std::size_t{1} << kRangeBits) + 1> gpus{};
  for (const Queued& queued : queue) gpus[range(queued)] += queued.gang;
  std::uint64_t edge = 0;
  for (std::int64_t sum = gpus[0]; sum <= free_; sum += gpus[edge]) ++edge;
  std::vector<Queued> at_edge;
  std::size_t kept = 0;
  for (const Queued queued : queue) {
    const std::uint64_t its = range(queued);
    if (its < edge) {
      Take(queued, type);
    } else if (its == edge) {
      at_edge.push_back(queued);
    } else {
      queue[kept++] = queued;
    }
  }
  TakeBest(at_edge, type);
  if (free_ > 0) TakeBest(queue.first(kept), type);
}

// Unless a member runs already, or it does not fit.
void RoundMechanism::Take(const Queued& queued, int type) {
  const int unit = queued.unit;
  if (queued.gang > free_ || AnyTaken(unit)) return;
  const int job = IsPair(unit) ? PairOf(unit)[0] : unit;
  taken_job_[U(job)] = taken_job_[U(IsPair(unit) ? PairOf(unit)[1] : unit)] = 1;
  free_ -= queued.gang;
  // A job that arrived after the last reset uses up room but is not run, as in the reference.
  if (in_alloc_[U(job)] != 0) {
    taken_[U(type)].push_back(queued);
  } else {
    left_[U(type)] += queued.gang;
  }
}

void RoundMechanism::Place(const ClusterView& view, Decision& decision) {
  if (view.plain()) {
    std::fill(taken_device_.begin(), taken_device_.end(), 0);
  } else {
    for (int device = 0; device < view.num_gpus(); ++device)
      taken_device_[U(device)] = !view.InService(device);
  }
  for (int job : jobs_) placed_[U(job)] = 0;
  if (!Rounds(view) || ordered_) {
    for (int job : jobs_) ran_on_[U(job)] = -1, ran_as_[U(job)] = job;
  }
  for (int type = 0; type < view.num_types() && view.AnyLeaving(); ++type) {
    for (const Queued& queued : taken_[U(type)]) {
      if (!StaysInPlace(view, queued)) continue;
      for (int device : view.Devices(queued.unit)) taken_device_[U(device)] = 1;
      SetPlaced(queued.unit, type);
    }
  }
  for (int type = 0; type < view.num_types(); ++type) PlaceType(view, type, decision);
  bool left_out = false;
  for (int job : jobs_) {
    if (placed_[U(job)] != 0) continue;
    if (std::binary_search(leaving_.begin(), leaving_.end(), job)) {
      SetPlaced(job, view.TypeOf(job));
      continue;
    }
    left_out = true;
    if (view.IsRunning(job)) decision.Stop(job);
  }
  if (Rounds(view)) return;
  look_again_ = left_out ? view.now() + 2.0 * half_round_ : kNever;
  if (left_out) decision.wake_at = look_again_;
}

// Largest first, and as they were within one size.
void RoundMechanism::SortByGang(std::vector<Queued>& queue) {
  if (std::is_sorted(queue.begin(), queue.end(),
                     [](const Queued& a, const Queued& b) { return a.gang > b.gang; }))
    return;
  const auto largest = std::max_element(queue.begin(), queue.end(), [](const Queued& a, const Queued& b) {
                         return a.gang < b.gang;
                       })->gang;
  std::vector<std::size_t> begin(U(largest) + 1, 0);
  for (const Queued& queued : queue) ++begin[U(largest - queued.gang)];
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::size_t{0});
  sorted_.resize(queue.size());
  for (const Queued& queued : queue) sorted_[begin[U(largest - queued.gang)]++] = queued;
  queue.swap(sorted_);
}

// Gang by gang, largest first: jobs that ran here keep their GPUs if none is used yet, then the others take
// GPUs server by server. A server's devices are numbered consecutively, so draining one server before the
// next, the pointer only moving forward, is a walk over the device numbers.
void RoundMechanism::PlaceType(const ClusterView& view, int type, Decision& decision) {
  SortByGang(taken_[U(type)]);
  const std::span<const Queued> taken = taken_[U(type)];
  const bool names = NamesDevices(view);
  int next = view.first_device(type);
  for (std::size_t begin = 0, end = 0; begin < taken.size(); begin = end) {
    const int gang = taken[begin].gang;
    come_.clear();
    for (; end < taken.size() && taken[end].gang == gang; ++end) {
      const bool placed = StaysInPlace(view, taken[end]);
      if (!placed && !Stays(view, taken[end].unit, type)) come_.push_back(taken[end]);
    }
    if (!ordered_) {
      sort_.SortDescending(
          come_, [](const Queued& queued) { return std::max(0.0, queued.priority); },
          [this, type](const Queued& a, const Queued& b) { return Before(a, b, type); });
    }
    for (const Queued& queued : come_) {
      if (ordered_ && gang == 1) StaysInPart(view, queued.unit, type, decision);
    }
    for (const Queued& queued : come_) {
      const int unit = queued.unit;
      const int job = IsPair(unit) ? PairOf(unit)[0] : unit;
      if (placed_[U(job)] != 0) continue;
      devices_.clear();
      const int named = names ? gang : 0;
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

// A unit that ran here as it is keeps its GPUs, if none is used yet. Who holds a part of one shares it, and
// would be sent to where it is, unless that is about to go.
bool RoundMechanism::Stays(const ClusterView& view, int unit, int type) {
  const int job = IsPair(unit) ? PairOf(unit)[0] : unit;
  if (view.TypeOf(job) != type || view.Partner(job) != (IsPair(unit) ? PairOf(unit)[1] : -1)) return false;
  const auto here = view.Devices(job);
  const bool part = view.divides_gpus() && view.GpuMilli(job) < 1000;
  if (std::any_of(here.begin(), here.end(),
                  [&](int d) { return part ? !view.InService(d) : taken_device_[U(d)] != 0; }))
    return false;
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
