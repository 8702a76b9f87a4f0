// Shortest remaining processing time on unrelated machines, greedily: again and again the (job, type) pair
// that would finish soonest among those that still fit. Room only shrinks, so one pass over the sorted pairs
// does it.
//
// Cost of a decision: running jobs are read once and stay in the order in which they would end where they
// are, which hardly changes as they run, so that it is mended rather than made. Of the other types those on
// which one would end sooner matter, and only as far as these have room: up to a little beyond where it ended
// last time, and to the end if it lasts longer. The pairs of the waiting jobs are kept in order, and only as
// many are looked at as there is room for.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "baselines/preemptive/waiting_order.hpp"
#include "baselines/radix_sort.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

// A job, or a position in a list of jobs that is in their order, and a type. Ties: stay where you are, then
// arrival order, then cluster order.
struct Pair {
  double seconds;     // to finish, what the change itself costs included; not negative
  std::uint64_t tie;  // moves (the job is not already running on this type), job or position, type

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

// A running job where it is, and its position among them.
struct Stay {
  double seconds;
  int job, k;
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
    order_.clear();
    where_.assign(Index(view.num_jobs()), 0);
    started_.assign(Index(view.num_jobs()), 0);
    until_.assign(Index(view.num_types()), kNever);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    waiting_.Track(view, view.num_types());
    Read(view);
    Mend();
    SortMoves();
    Fill(view);
    Emit(view, decision);
  }

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  static bool After(const Pair& a, const Pair& b) { return b < a; }  // for heaps with the least in front
  static constexpr int kNowhere = -1;
  static constexpr std::size_t kAhead = 16;  // jobs whose rates are fetched while others are read

  // The running jobs, in the order of the view.
  void Read(const ClusterView& view) {
    jobs_ = view.running();
    const std::size_t n = jobs_.size();
    for (auto* column : {&steps_, &stay_}) column->resize(n);
    for (auto* column : {&gangs_, &here_}) column->resize(n);
    fate_.assign(n, kNowhere);
    moves_.clear();
    shares_ = false;
    for (std::size_t k = 0; k < n; ++k) {
      if (k + kAhead < n) __builtin_prefetch(view.Rates(jobs_[k + kAhead]).data());
      const int job = jobs_[k], here = view.TypeOf(job);
      const auto rates = view.Rates(job);
      const double rate = rates[Index(here)];
      here_[k] = here;
      gangs_[k] = view.Gang(job);
      steps_[k] = view.RemainingSteps(job);
      stay_[k] = rate > 0.0 ? steps_[k] / rate : kNever;
      shares_ = shares_ || view.Partner(job) >= 0;
      where_[Index(job)] = static_cast<int>(k);
      for (std::size_t type = 0; type < rates.size(); ++type) {  // what a change costs is not less than 0
        if (rates[type] > rate && steps_[k] < until_[type] * rates[type] * (1.0 + 1e-12))
          AddMove(view, static_cast<int>(k), static_cast<int>(type), 0.0, until_[type]);
      }
    }
  }

  // `order_`: from that of the last decision. Who is new is merged in; a few who changed places move up.
  void Mend() {
    const std::size_t n = jobs_.size();
    listed_.assign(n, 0);
    std::size_t kept = 0;
    for (const Stay& stay : order_) {
      const int k = where_[Index(stay.job)];
      if (Index(k) >= n || jobs_[Index(k)] != stay.job) continue;
      order_[kept++] = {stay_[Index(k)], stay.job, k};
      listed_[Index(k)] = 1;
    }
    order_.resize(kept);
    std::size_t budget = 8 * n;  // of moves up
    for (std::size_t i = 1; i < kept; ++i) {
      const Stay stay = order_[i];
      std::size_t to = i;
      for (; to > 0 && stay < order_[to - 1] && budget > 0; --to, --budget) order_[to] = order_[to - 1];
      order_[to] = stay;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (listed_[k] == 0) order_.push_back({stay_[k], jobs_[k], static_cast<int>(k)});
    }
    const auto old_end = order_.begin() + static_cast<std::ptrdiff_t>(kept);
    if (budget == 0 || n - kept > n / 8) return order_sort_.Sort(order_, SecondsOf, std::less<>());
    std::sort(old_end, order_.end());
    std::inplace_merge(order_.begin(), old_end, order_.end());
  }

  // Where the job would end sooner than where it is, after at least `from` and less than `until`.
  void AddMove(const ClusterView& view, int k, int type, double from, double until) {
    const double seconds = Seconds(view, jobs_[Index(k)], type, steps_[Index(k)]);
    if (seconds < stay_[Index(k)] && seconds >= from && seconds < until)
      moves_.push_back({seconds, Pair::Tie(true, k, type)});
  }
  void SortMoves() { moves_sort_.Sort(moves_, SecondsOf, std::less<>()); }
  // All moves that were left out because they come after `until_` of a type that has room even then.
  void AddRest(const ClusterView& view, double now) {
    moves_.erase(moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>(next_move_));
    next_move_ = 0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (until_[Index(type)] > now) continue;
      const double from = std::exchange(until_[Index(type)], kNever);
      for (int k = 0; k < static_cast<int>(jobs_.size()); ++k) {
        if (Fits(k, type) && type != here_[Index(k)]) AddMove(view, k, type, from, kNever);
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
    starts_.clear(), late_.clear();
    if (++epoch_ == 0) epoch_ = 1, std::fill(started_.begin(), started_.end(), 0);
    next_stay_ = next_move_ = 0;
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
      const bool waits = waiting.job >= 0 && IsBefore(waiting, running);
      const double seconds = waits ? waiting.key : running.seconds;
      if (seconds >= left_out_) {
        if (left_out_ == kNever) break;  // neither runs nor waits
        AddRest(view, seconds);
        continue;
      }
      if (waits) {
        if (started_[Index(waiting.job)] != epoch_) Start(view, waiting);
        waiting_.Pop();
      } else if (late) {
        std::pop_heap(late_.begin(), late_.end(), After);
        late_.pop_back();
        if (Fits(running.job(), running.type())) Put(running);
      } else {
        Put(running);
      }
      if (waits) waiting = waiting_.Front(room_);
    }
    // What is behind by a quarter hardly finds room next time.
    for (std::size_t type = 0; type < room_.size(); ++type) until_[type] = 1.25 * last_[type];
  }

  // Those that stay where they are, as long as nothing else may come before them.
  void PutBefore(double bound) {
    bound = std::min(bound, left_out_);
    if (!late_.empty()) bound = std::min(bound, late_.front().seconds);
    if (next_move_ < moves_.size()) bound = std::min(bound, moves_[next_move_].seconds);
    for (; next_stay_ < order_.size() && order_[next_stay_].seconds < bound; ++next_stay_) {
      const auto k = Index(order_[next_stay_].k);
      if (fate_[k] != kNowhere) continue;
      const auto type = Index(here_[k]);
      if (gangs_[k] > room_[type]) return;
      fate_[k] = here_[k];
      Take(here_[k], gangs_[k], order_[next_stay_].seconds);
      if (total_room_ == 0) return;
    }
  }

  bool IsBefore(const WaitingOrder::Pair& waiting, const Pair& running) const {
    if (running.seconds == kNever) return true;
    const Pair other{running.seconds,
                     Pair::Tie(running.moves(), jobs_[Index(running.job())], running.type())};
    return Pair{waiting.key, Pair::Tie(true, waiting.job, waiting.lane)} < other;
  }

  // The next pair of a running job that fits; whoever has no room where it is may go elsewhere later.
  Pair NextRunning(const ClusterView& view) {
    Pair next{kNever, ~std::uint64_t{0}};
    for (; next_stay_ < order_.size(); ++next_stay_) {
      const Stay& stay = order_[next_stay_];
      if (fate_[Index(stay.k)] != kNowhere) continue;
      next = {stay.seconds, Pair::Tie(false, stay.k, here_[Index(stay.k)])};
      if (Fits(stay.k, next.type())) break;
      AddLate(view, next);
      next = {kNever, ~std::uint64_t{0}};
    }
    while (next_move_ < moves_.size() && !Fits(moves_[next_move_].job(), moves_[next_move_].type()))
      ++next_move_;
    return next_move_ < moves_.size() ? std::min(next, moves_[next_move_]) : next;
  }

  void AddLate(const ClusterView& view, const Pair& stay) {
    const int k = stay.job();
    for (int type = 0; type < view.num_types(); ++type) {
      const double seconds = Seconds(view, jobs_[Index(k)], type, steps_[Index(k)]);
      if (type == stay.type() || seconds == kNever || seconds < stay.seconds) continue;
      late_.push_back({seconds, Pair::Tie(true, k, type)});
      std::push_heap(late_.begin(), late_.end(), After);
    }
  }

  bool Fits(int k, int type) const {
    return fate_[Index(k)] == kNowhere && gangs_[Index(k)] <= room_[Index(type)];
  }
  void Put(const Pair& running) {
    fate_[Index(running.job())] = running.type();
    Take(running.type(), gangs_[Index(running.job())], running.seconds);
  }
  void Start(const ClusterView& view, const WaitingOrder::Pair& waiting) {
    started_[Index(waiting.job)] = epoch_;
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
    if (view.plain() && !shares_) {
      for (std::size_t k = 0; k < jobs_.size(); ++k) {
        if (fate_[k] == here_[k]) continue;
        fate_[k] == kNowhere ? decision.Stop(jobs_[k]) : decision.Move(jobs_[k], fate_[k]);
      }
      for (const auto& [job, type] : starts_) decision.Start(job, type);
      return;
    }
    plan_.Begin(view, /*preemptive=*/true);
    for (std::size_t k = 0; k < jobs_.size(); ++k) {
      if (fate_[k] != kNowhere) plan_.Put(view, jobs_[k], fate_[k]);
    }
    for (const auto& [job, type] : starts_) plan_.Put(view, job, type);
    plan_.Emit(view, decision);
  }

  WaitingOrder waiting_{[](const ClusterView& view, int job, int type) {
    return Seconds(view, job, type, view.RemainingSteps(job));
  }};                                   // a lane a type
  std::vector<int> where_;              // [J] position in jobs_, of those in it
  std::vector<std::uint32_t> started_;  // [J] epoch
  std::uint32_t epoch_ = 0;
  // Of the running jobs, during a decision; pairs of running jobs hold positions in it.
  std::span<const int> jobs_;
  std::vector<double> steps_, stay_;  // steps left, s to the end where it is
  std::vector<int> gangs_, here_, fate_;
  std::vector<std::uint8_t> listed_;
  bool shares_ = false;               // a GPU with another
  std::vector<Stay> order_;           // where each runs, sorted
  std::vector<Pair> moves_;           // where it would end sooner, sorted, and before `until_` of the type
  std::vector<Pair> late_;            // heap: the other types, of those that lost their place
  std::vector<double> until_, last_;  // [G] s; last_: of the last pair that was put there
  double left_out_ = kNever;          // the least of until_
  std::size_t next_stay_ = 0, next_move_ = 0;
  RadixSort<Stay> order_sort_;
  RadixSort<Pair> moves_sort_;
  std::vector<int> room_;  // [G]
  int total_room_ = 0, placed_ = 0;
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
