// Shortest remaining processing time on unrelated machines, greedily: again and again the (job, type) pair
// that would finish soonest among those that still fit. Room only shrinks, so one pass over the sorted pairs
// does it.
//
// Cost of a decision: the pairs of the running jobs are sorted anew (their remaining times change, on each
// type at another pace), but of a job only those on which it would finish no later than where it is: the
// others are behind that one, and matter only if there is no room for it. The pairs of the waiting jobs are
// kept in order, and only as many are looked at as there is room for.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "baselines/preemptive/waiting_order.hpp"
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

// Sorts by a radix of the leading 33 bits of the time, whose order as an integer is that of the number, then
// exactly, which by then is a matter of neighbours. Four times as fast as std::sort on 30,000 pairs.
class PairSorter {
 public:
  void Sort(std::vector<Pair>& pairs) {
    if (pairs.size() < 256) return std::sort(pairs.begin(), pairs.end());
    scratch_.resize(pairs.size());
    for (const int shift : {31, 42, 53}) {
      const auto digit = [shift](const Pair& pair) {
        return std::bit_cast<std::uint64_t>(pair.seconds) >> shift & (kDigits - 1);
      };
      std::fill(begin_.begin(), begin_.end(), 0);
      for (const Pair& pair : pairs) ++begin_[digit(pair)];
      std::uint32_t sum = 0;
      for (std::uint32_t& begin : begin_) sum += std::exchange(begin, sum);
      for (const Pair& pair : pairs) scratch_[begin_[digit(pair)]++] = pair;
      pairs.swap(scratch_);
    }
    for (std::size_t i = 1; i < pairs.size(); ++i) {
      const Pair pair = pairs[i];
      std::size_t to = i;
      for (; to > 0 && pair < pairs[to - 1]; --to) pairs[to] = pairs[to - 1];
      pairs[to] = pair;
    }
  }

 private:
  static constexpr std::size_t kDigits = std::size_t{1} << 11;
  std::vector<Pair> scratch_;
  std::vector<std::uint32_t> begin_ = std::vector<std::uint32_t>(kDigits);
};

// `steps`: what remains of the job.
double Seconds(const ClusterView& view, int job, int type, double steps) {
  const double rate = view.Rate(job, type);
  return rate > 0.0 ? steps / rate + ChangeSeconds(view, job, type) : kNever;
}

class Srpt final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  void Reset(const ClusterView&) override { waiting_.Reset(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    waiting_.Track(view, view.num_types());
    running_.clear(), late_.clear(), gangs_.clear();
    jobs_ = view.running();
    for (int k = 0; k < static_cast<int>(jobs_.size()); ++k) {
      const int job = jobs_[Index(k)], here = view.TypeOf(job);
      const double steps = view.RemainingSteps(job), stay = Seconds(view, job, here, steps);
      gangs_.push_back(view.Gang(job));
      for (int type = 0; type < view.num_types(); ++type) {
        const double seconds = Seconds(view, job, type, steps);
        if (type == here || seconds < stay) running_.push_back({seconds, Pair::Tie(type != here, k, type)});
      }
    }
    sorter_.Sort(running_);
    Fill(view);
    plan_.Emit(view, decision);
  }

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  static bool After(const Pair& a, const Pair& b) { return b < a; }  // for heaps with the least in front

  // One pass over the three orders, as if they were one.
  void Fill(const ClusterView& view) {
    plan_.Begin(view, /*preemptive=*/true);
    room_.resize(Index(view.num_types()));
    for (int type = 0; type < view.num_types(); ++type) room_[Index(type)] = plan_.room(type);
    next_ = 0;
    while (plan_.total_room() > 0 && static_cast<int>(plan_.placed().size()) < view.num_active()) {
      const bool more = SkipWithoutRoom(view);
      const bool late = !late_.empty() && (!more || late_.front() < running_[next_]);
      const WaitingOrder::Pair waiting = waiting_.Front(room_);
      if (waiting.job >= 0 &&
          ((!more && !late) || IsBefore(waiting, late ? late_.front() : running_[next_]))) {
        if (plan_.Fits(view, waiting.job, waiting.lane)) Put(view, waiting.job, waiting.lane);
        waiting_.Pop();
      } else if (late) {
        std::pop_heap(late_.begin(), late_.end(), After);
        if (Fits(late_.back())) PutRunning(view, late_.back());
        late_.pop_back();
      } else if (more) {
        PutRunning(view, running_[next_++]);
      } else {
        return;
      }
    }
  }

  bool IsBefore(const WaitingOrder::Pair& waiting, const Pair& running) const {
    const Pair other{running.seconds,
                     Pair::Tie(running.moves(), jobs_[Index(running.job())], running.type())};
    return Pair{waiting.key, Pair::Tie(true, waiting.job, waiting.lane)} < other;
  }

  // To the next pair of a running job that fits; whoever has no room where it is may go elsewhere later.
  bool SkipWithoutRoom(const ClusterView& view) {
    for (; next_ < running_.size(); ++next_) {
      const Pair& pair = running_[next_];
      if (Fits(pair)) return true;
      if (!pair.moves() && gangs_[Index(pair.job())] != kPlaced) AddLate(view, pair);
    }
    return false;
  }

  void AddLate(const ClusterView& view, const Pair& stay) {
    const int job = jobs_[Index(stay.job())];
    const double steps = view.RemainingSteps(job);
    for (int type = 0; type < view.num_types(); ++type) {
      const double seconds = Seconds(view, job, type, steps);
      if (type == stay.type() || seconds == kNever || seconds < stay.seconds) continue;
      late_.push_back({seconds, Pair::Tie(true, stay.job(), type)});
      std::push_heap(late_.begin(), late_.end(), After);
    }
  }

  bool Fits(const Pair& running) const {
    return gangs_[Index(running.job())] <= room_[Index(running.type())];
  }
  void PutRunning(const ClusterView& view, const Pair& running) {
    gangs_[Index(running.job())] = kPlaced;
    Put(view, jobs_[Index(running.job())], running.type());
  }
  void Put(const ClusterView& view, int job, int type) {
    plan_.Put(view, job, type);
    room_[Index(type)] = plan_.room(type);
  }

  Plan plan_;
  WaitingOrder waiting_{[](const ClusterView& view, int job, int type) {
    return Seconds(view, job, type, view.RemainingSteps(job));
  }};  // a lane a type
  static constexpr int kPlaced = std::numeric_limits<int>::max();
  std::span<const int> jobs_;  // running, during a decision; pairs of running jobs hold positions in it
  std::vector<int> gangs_;     // of jobs_; kPlaced once in the plan
  std::vector<Pair> running_;  // sorted: where each runs, and where it would end sooner
  std::size_t next_ = 0;       // of them
  std::vector<Pair> late_;     // heap: the others, of those that lost their place
  PairSorter sorter_;
  std::vector<int> room_;  // [G]
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
