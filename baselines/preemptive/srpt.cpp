// Shortest remaining processing time on unrelated machines, greedily: again and again the (job, type) pair
// that would finish soonest among those that still fit. Room only shrinks, so one pass over the sorted pairs
// does it.
//
// Cost of a decision: what is known of running jobs is kept, and who changed is read again. They stay in the
// order in which they would end where they are, which hardly changes as they run, so that it is mended rather
// than made. Of the other types those on which one would end sooner matter, and only as far as these have
// room: up to a little beyond where it ended last time, and to the end if it lasts longer. The pairs of the
// waiting jobs are kept in order, and only as many are looked at as there is room for.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "baselines/placement/in_service.hpp"
#include "baselines/preemptive/waiting_order.hpp"
#include "baselines/radix_sort.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

// A job and a type. Ties: stay where you are, then arrival order, then cluster order.
struct Pair {
  double seconds;     // to finish, what the change itself costs included; not negative
  std::uint64_t tie;  // moves (the job is not already running on this type), job, type

  static std::uint64_t Tie(bool moves, int job, int type) {
    return static_cast<std::uint64_t>(moves) << 63 | static_cast<std::uint64_t>(job) << 8 |
           static_cast<std::uint64_t>(type);
  }
  bool moves() const { return tie >> 63 != 0; }
  int job() const { return static_cast<int>(tie >> 8 & 0x7fffffff); }
  int type() const { return static_cast<int>(tie & 0xff); }
  friend bool operator<(const Pair& a, const Pair& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.tie < b.tie;
  }
};

// What holds of a running job until something happens to it. One cache line.
struct alignas(64) Held {
  JobProgress progress;
  double rate;    // steps/s where it is, as told
  int job, gang;  // job -1: nobody any more
  bool shares;    // a GPU with another
};

// One where it is, and its place among the Held.
struct Stay {
  double seconds, steps;  // to the end; left
  int job, place, gang, here;
  friend bool operator<(const Stay& a, const Stay& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.job < b.job;
  }
};

constexpr auto SecondsOf = [](const auto& entry) { return entry.seconds; };

// `steps`: what remains of the job.
double Seconds(const ClusterView& view, int job, int type, double steps) {
  const double rate = view.Rate(job, type);
  return rate > 0.0 ? steps / rate + ChangeSeconds(view, job, type) : kNever;
}

class Srpt final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView& view) override {
    waiting_.Reset();
    mark_ = 0;
    where_.assign(Index(view.num_jobs()), 0);
    until_.assign(Index(view.num_types()), kNever);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (AnyOnLeaving(view)) return DecideByPlan(view, decision);
    waiting_.Track(view, view.num_types());
    Track(view);
    Look(view);
    Mend();
    SortMoves();
    Fill(view);
    Emit(view, decision);
  }

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  static bool After(const Pair& a, const Pair& b) { return b < a; }  // for heaps with the least in front
  static constexpr std::int8_t kNowhere = -1, kStarts = -1;
  static constexpr std::size_t kAhead = 16;  // jobs whose rates are fetched while others are read

  static bool AnyOnLeaving(const ClusterView& view) {
    const auto leaves = [&](int job) { return !AllInService(view, job); };
    return view.AnyLeaving() && std::ranges::any_of(view.running(), leaves);
  }

  // All pairs anew, for as long as jobs run on GPUs that are about to go: who stays there takes no room.
  void DecideByPlan(const ClusterView& view, Decision& decision) {
    moves_.clear();
    for (int job : view.active()) {
      const double steps = view.RemainingSteps(job);
      for (int type = 0; type < view.num_types(); ++type) {
        const double seconds = Seconds(view, job, type, steps);
        if (seconds < kNever) moves_.push_back({seconds, Pair::Tie(view.TypeOf(job) != type, job, type)});
      }
    }
    std::sort(moves_.begin(), moves_.end());
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    for (const Pair& pair : moves_) {
      if (FitsOrStays(view, plan_, pair.job(), pair.type())) PutOrStay(view, plan_, pair.job(), pair.type());
    }
    plan_.Emit(view, decision);
    LeavingMoves moves(view, plan_, decision);
    for (const Pair& pair : moves_) moves.Offer(pair.job(), pair.type());
  }

  // Whoever changed is held anew, in a place behind; now and then all are, and fill those that were left.
  void Track(const ClusterView& view) {
    const bool follows = view.Follows(mark_) && view.clock().kind != ClockKind::kReferenceRounds &&
                         2 * held_.size() <= 3 * order_.size() + 64;
    if (!follows) held_.clear(), faster_.clear(), order_.clear(), sharing_ = 0;
    new_ = 0;
    const std::span<const int> jobs = follows ? view.changed() : view.running();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i + kAhead < jobs.size()) __builtin_prefetch(view.Rates(jobs[i + kAhead]).data());
      Track(view, jobs[i]);
    }
  }
  void Track(const ClusterView& view, int job) {
    int& place = where_[Index(job)];
    if (Index(place) < held_.size() && held_[Index(place)].job == job) {
      held_[Index(place)].job = -1;
      sharing_ -= held_[Index(place)].shares;
    }
    if (!view.IsRunning(job)) return;
    place = static_cast<int>(held_.size());
    const int here = view.TypeOf(job), gang = view.Gang(job);
    const double rate = view.Rate(job, here);
    held_.push_back({view.ProgressOf(job), rate, job, gang, view.Partner(job) >= 0});
    sharing_ += held_.back().shares;
    for (const double there : view.Rates(job)) faster_.push_back(there > rate ? there : 0.0);
    order_.push_back({0.0, 0.0, job, place, gang, here});
    ++new_;
  }

  // What remains of the running jobs.
  void Look(const ClusterView& view) {
    fate_.assign(held_.size(), kNowhere);
    moves_.clear();
    const std::size_t n = order_.size(), types = until_.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Held& held = held_[Index(order_[i].place)];
      if (held.job != order_[i].job) continue;
      Stay& stay = order_[kept++] = order_[i];
      stay.steps = held.progress.Remaining(view.now());
      stay.seconds = held.rate > 0.0 ? stay.steps / held.rate : kNever;
      const double* faster = &faster_[Index(stay.place) * types];
      for (std::size_t type = 0; type < types; ++type) {  // what a change costs is not less than 0
        if (stay.steps < until_[type] * faster[type] * (1.0 + 1e-12))
          AddMove(view, stay, type, 0.0, until_[type]);
      }
    }
    order_.resize(kept);
  }

  // `order_`: from that of the last decision, in which who is new is merged.
  void Mend() {
    const auto old_end = order_.end() - static_cast<std::ptrdiff_t>(std::min(new_, order_.size()));
    if (new_ > order_.size() / 8 || !std::is_sorted(order_.begin(), old_end))
      return order_sort_.Sort(order_, SecondsOf, std::less<>());
    std::sort(old_end, order_.end());
    std::inplace_merge(order_.begin(), old_end, order_.end());
  }

  // Where the job would end sooner than where it is, after at least `from` and less than `until`.
  void AddMove(const ClusterView& view, const Stay& stay, std::size_t type, double from, double until) {
    const int to = static_cast<int>(type);
    const double rate = faster_[Index(stay.place) * until_.size() + type];
    const double seconds = rate > 0.0 ? stay.steps / rate + ChangeSeconds(view, stay.job, to) : kNever;
    if (seconds < stay.seconds && seconds >= from && seconds < until)
      moves_.push_back({seconds, Pair::Tie(true, stay.job, to)});
  }
  void SortMoves() { moves_sort_.Sort(moves_, SecondsOf, std::less<>()); }
  // All moves that were left out because they come after `until_` of a type that has room even then.
  void AddRest(const ClusterView& view, double now) {
    moves_.erase(moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>(next_move_));
    next_move_ = 0;
    for (std::size_t type = 0; type < until_.size(); ++type) {
      if (until_[type] > now) continue;
      const double from = std::exchange(until_[type], kNever);
      for (std::size_t i = first_left(); i < order_.size() && room_[type] > 0; ++i) {
        if (Fits(order_[i].place, static_cast<int>(type))) AddMove(view, order_[i], type, from, kNever);
      }
    }
    SortMoves();
    left_out_ = *std::min_element(until_.begin(), until_.end());
  }

  // One pass over the four orders, as if they were one.
  void Fill(const ClusterView& view) {
    room_.clear();
    for (const GpuType& type : view.types()) room_.push_back(type.count);
    total_room_ = std::accumulate(room_.begin(), room_.end(), 0);
    placed_ = 0;
    last_.assign(room_.size(), 0.0);
    starts_.clear(), late_.clear(), changes_.clear();
    next_stay_ = next_move_ = 0;
    first_lost_ = order_.size();
    left_out_ = until_.empty() ? kNever : *std::min_element(until_.begin(), until_.end());
    WaitingOrder::Pair waiting = waiting_.Front(room_);
    while (total_room_ > 0 && placed_ < view.num_active()) {
      PutBefore(waiting.job >= 0 ? waiting.key : kNever);
      if (total_room_ == 0 || placed_ == view.num_active()) break;
      if (waiting.job >= 0 && view.Gang(waiting.job) > room_[Index(waiting.lane)])
        waiting = waiting_.Front(room_);
      Pair running = NextRunning(view);
      const bool late = !late_.empty() && late_.front() < running;
      if (late) running = late_.front();
      const bool waits =
          waiting.job >= 0 && Pair{waiting.key, Pair::Tie(true, waiting.job, waiting.lane)} < running;
      const double seconds = waits ? waiting.key : running.seconds;
      if (seconds >= left_out_) {
        if (left_out_ == kNever) break;  // neither runs nor waits
        AddRest(view, seconds);
        continue;
      }
      if (waits) {
        if (where_[Index(waiting.job)] != kStarts) Start(view, waiting);
        waiting_.Pop();
        waiting = waiting_.Front(room_);
        continue;
      }
      if (late) {
        std::pop_heap(late_.begin(), late_.end(), After);
        late_.pop_back();
      }
      if (!late || Fits(Place(running), running.type())) Put(running);
    }
    for (const auto& [job, type] : starts_) where_[Index(job)] = 0;  // as of one that waits
    // What is behind by a little hardly finds room next time.
    for (std::size_t type = 0; type < room_.size(); ++type) until_[type] = 1.02 * last_[type];
  }

  // Those that stay where they are, as long as nothing else may come before them.
  void PutBefore(double bound) {
    bound = std::min(bound, left_out_);
    if (!late_.empty()) bound = std::min(bound, late_.front().seconds);
    if (next_move_ < moves_.size()) bound = std::min(bound, moves_[next_move_].seconds);
    for (; next_stay_ < order_.size() && order_[next_stay_].seconds < bound; ++next_stay_) {
      const auto& [seconds, steps, job, place, gang, here] = order_[next_stay_];
      if (fate_[Index(place)] != kNowhere) continue;
      if (gang > room_[Index(here)]) return;
      fate_[Index(place)] = static_cast<std::int8_t>(here);
      Take(here, gang, seconds);
      if (total_room_ == 0) return;
    }
  }

  // The next pair of a running job that fits; whoever has no room where it is may go elsewhere later.
  Pair NextRunning(const ClusterView& view) {
    Pair next{kNever, ~std::uint64_t{0}};
    for (; next_stay_ < order_.size(); ++next_stay_) {
      const Stay& stay = order_[next_stay_];
      if (fate_[Index(stay.place)] != kNowhere) continue;
      if (Fits(stay.place, stay.here)) {
        next = {stay.seconds, Pair::Tie(false, stay.job, stay.here)};
        break;
      }
      first_lost_ = std::min(first_lost_, next_stay_);
      AddLate(view, stay);
    }
    while (next_move_ < moves_.size() && !Fits(Place(moves_[next_move_]), moves_[next_move_].type()))
      ++next_move_;
    return next_move_ < moves_.size() ? std::min(next, moves_[next_move_]) : next;
  }

  void AddLate(const ClusterView& view, const Stay& stay) {
    for (int type = 0; type < view.num_types(); ++type) {
      const double seconds = Seconds(view, stay.job, type, stay.steps);
      if (type == stay.here || seconds == kNever || seconds < stay.seconds) continue;
      late_.push_back({seconds, Pair::Tie(true, stay.job, type)});
      std::push_heap(late_.begin(), late_.end(), After);
    }
  }

  int Place(const Pair& running) const { return where_[Index(running.job())]; }
  int FateOf(int job) const { return fate_[Index(where_[Index(job)])]; }
  // In order_ all before it are put.
  std::size_t first_left() const { return std::min(first_lost_, next_stay_); }
  bool Fits(int place, int type) const {
    return fate_[Index(place)] == kNowhere && held_[Index(place)].gang <= room_[Index(type)];
  }
  void Put(const Pair& running) {
    fate_[Index(Place(running))] = static_cast<std::int8_t>(running.type());
    if (running.moves()) changes_.push_back(running.job());
    Take(running.type(), held_[Index(Place(running))].gang, running.seconds);
  }
  void Start(const ClusterView& view, const WaitingOrder::Pair& waiting) {
    where_[Index(waiting.job)] = kStarts;
    starts_.emplace_back(waiting.job, waiting.lane);
    Take(waiting.lane, view.Gang(waiting.job), waiting.key);
  }
  void Take(int type, int gpus, double seconds) {
    room_[Index(type)] -= gpus;
    total_room_ -= gpus;
    last_[Index(type)] = seconds;
    ++placed_;
  }

  void Emit(const ClusterView& view, Decision& decision) {
    if (view.plain() && sharing_ == 0) {
      for (std::size_t i = first_left(); i < order_.size(); ++i) {
        if (fate_[Index(order_[i].place)] == kNowhere) changes_.push_back(order_[i].job);
      }
      std::sort(changes_.begin(), changes_.end());
      for (const int job : changes_)
        FateOf(job) == kNowhere ? decision.Stop(job) : decision.Move(job, FateOf(job));
      for (const auto& [job, type] : starts_) decision.Start(job, type);
      return;
    }
    plan_.Begin(view, /*preemptive=*/true);
    for (const int job : view.running()) {
      if (FateOf(job) != kNowhere) plan_.Put(view, job, FateOf(job));
    }
    for (const auto& [job, type] : starts_) plan_.Put(view, job, type);
    plan_.Emit(view, decision);
  }

  WaitingOrder waiting_{[](const ClusterView& view, int job, int type) {
    return Seconds(view, job, type, view.RemainingSteps(job));
  }};  // a lane a type
  std::uint64_t mark_ = 0;
  std::vector<int> where_;            // [J] place, of running jobs; during Fill kStarts, of others
  std::vector<Held> held_;            // by place
  std::vector<double> faster_;        // [places, G] steps/s where that is more than here, else 0
  std::vector<std::int8_t> fate_;     // [places] type
  int sharing_ = 0;                   // jobs that share a GPU
  std::vector<Stay> order_;           // where each runs, sorted
  std::size_t new_ = 0;               // of them, at the end until Mend
  std::vector<Pair> moves_;           // where it would end sooner, sorted, and before `until_` of the type
  std::vector<Pair> late_;            // heap: the other types, of those that lost their place
  std::vector<double> until_, last_;  // [G] s; last_: of the last pair that was put there
  double left_out_ = kNever;          // the least of until_
  std::size_t next_stay_ = 0, next_move_ = 0, first_lost_ = 0;
  RadixSort<Stay> order_sort_;
  RadixSort<Pair> moves_sort_;
  std::vector<int> room_;  // [G]
  int total_room_ = 0, placed_ = 0;
  std::vector<int> changes_;                 // jobs that are not to stay where they are
  std::vector<std::pair<int, int>> starts_;  // job, type
  Plan plan_;
};

}  // namespace

SchedulerInfo SrptInfo() {
  return {"srpt",
          "preemptive shortest remaining time over (job, type) pairs; O(r types log r), r running",
          "SRPT, Schrage 1968; greedy over unrelated machines",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<Srpt>(); },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
