// Gavel's round-based mechanism (OSDI 2020 §5; exactly as scheduler.py of its code has it): it turns an
// allocation, the fraction of time that each job should spend on each type, into what runs where in the
// coming round.
//
//   mechanism.Reset(view, options);
//   mechanism.Decide(view, source, decision);   // once a decision point
//
// Floating-point operations stand in the reference's order: ties between priorities are decided by their last
// bits.
//
// Clock by clock:
//   reference_rounds  exact, bugs included (new jobs wait for the next reset, also in an idle cluster).
//   rounds            the same, but a reset also happens when otherwise nothing would run.
//   event, hpc        no rounds: time received is the difference of the attained seconds, every arrival and
//                     completion resets, and while jobs wait the mechanism asks to look again one round
//                     later. Asked in between for another reason, such as a GPU that grew hot, it leaves what
//                     runs.
//
// GPUs that leave or return ask for a new allocation, as jobs do; the reference has no such. Who runs on some
// that are about to go is no part of it, but has a share of 1 of its type, and the others share what it does
// not hold. On no others than such it stays until they have gone, else as long as it is chosen, on what it
// holds; or it moves to what is left idle, to its fastest type with room.
//
// The reference knows no costs of a start. Where there are some (and not under reference_rounds), a unit
// without progress since its last start keeps its GPUs: jobs that were to change places before they have
// loaded their state would never be done.
//
// Packed policies also give pairs. A unit is a job alone or a pair; units queue together, and one is taken
// only while nobody else has taken a member. A pair needs both rates above 0, runs for as long as the later
// of the two, and that long counts once. No rounds of the reference with pairs are recorded. Our choices:
// pairs that the allocation does not use do not queue (the reference lists all, at priority 0), ties go to
// single jobs, then by the order of the pairs, and a job whose pair changes keeps its GPU where it can, so
// that costs of moving are not charged for nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/python_random.hpp"
#include "baselines/radix_sort.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth::gavel {

// Shares of pairs of jobs that are to run on one GPU together.
struct PairShares {
  std::vector<std::array<int, 2>> jobs;  // each first < second
  Allocation share;                      // [pairs, G]
};

// It runs on GPUs of which some are about to go, and stays there: no part of an allocation.
bool IsApart(const ClusterView& view, int job);
// [G] GPUs in service that the others can have.
std::vector<int> GpusToShare(const ClusterView& view);

// Where allocations come from: a policy, or a recording.
class AllocationSource {
 public:
  virtual ~AllocationSource() = default;
  // Fills x [jobs, G], 0 on entry, columns as view.types(). `jobs` are all the active ones, ascending.
  virtual void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) = 0;
  // Those of the allocation just made; null = none, as for policies that do not pack.
  virtual const PairShares* pairs() const { return nullptr; }
};

struct MechanismOptions {
  bool shuffle_types = false;   // agnostic policies: the order of types is drawn afresh each round
  bool only_positive = false;   // FIFO: jobs of priority 0 are not taken even if GPUs are left
  double min_reset_s = 1920.0;  // least time between two allocations
};

class RoundMechanism {
 public:
  void Reset(const ClusterView& view, const MechanismOptions& options);
  void Decide(const ClusterView& view, AllocationSource& source, Decision& decision);

  // What the last Decide computed, for tests and inspection.
  double Priority(int job, int type) const { return rows_[At(job, type)].priority; }
  double Deficit(int job, int type) const { return rows_[At(job, type)].deficit; }
  double last_reset() const { return last_reset_; }
  std::span<const int> type_order() const { return order_; }

 private:
  // Units are numbered: a job by its index, then the pairs of the present allocation.
  static constexpr int kRangeBits = 10;
  struct Row {  // of a unit on a type
    double jobtime = 0.0, deficit = 0.0, priority = 0.0, alloc = 0.0;
  };
  struct Queued {
    double priority, deficit;
    int unit, gang;  // GPUs in service that it takes
  };
  // Ties go to single jobs, then by arrival or by the order of the pairs.
  bool Before(const Queued& a, const Queued& b, int type) const {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.deficit != b.deficit) return a.deficit > b.deficit;
    const double its = rows_[At(a.unit, type)].alloc, others = rows_[At(b.unit, type)].alloc;
    if (its != others) return its > others;
    return a.unit < b.unit;
  }
  std::size_t At(int unit, int type) const {
    return static_cast<std::size_t>(unit) * worktime_.size() + static_cast<std::size_t>(type);
  }
  bool IsPair(int unit) const { return unit >= static_cast<int>(tracked_.size()); }
  const std::array<int, 2>& PairOf(int unit) const {
    return pairs_[static_cast<std::size_t>(unit) - tracked_.size()];
  }
  bool CanRun(const ClusterView& view, int unit, int type) const;
  bool Rounds(const ClusterView& view) const {
    return view.clock().kind == ClockKind::kRounds || view.clock().kind == ClockKind::kReferenceRounds;
  }
  double SinceReset(const ClusterView& view) const;  // s
  bool Holds(const ClusterView& view) const;         // is the last choice still to run?
  void FollowStarts(const ClusterView& view);        // starting_
  void TakeStarting(const ClusterView& view);
  void AccountTime(const ClusterView& view);  // _done_callback
  void UpdateJobs(const ClusterView& view);   // add_job, remove_job; and which GPUs there are
  void ResetAllocation(const ClusterView& view, AllocationSource& source);  // _reset_time_run_so_far
  void UpdatePriorities(const ClusterView& view);                           // _update_priorities
  void TakePairs(const PairShares* pairs);                                  // of the new allocation
  void Select(const ClusterView& view);                                     // _schedule_jobs_on_workers
  void TakeBest(std::span<Queued> queue, int type);
  void TakeLeaving(const ClusterView& view);
  void TakeByRange(std::span<Queued> queue, int type, double least, double most);
  void Take(const Queued& queued, int type);
  bool AnyTaken(int unit) const {
    if (!IsPair(unit)) return taken_job_[static_cast<std::size_t>(unit)] != 0;
    const auto [job, other] = PairOf(unit);
    return taken_job_[static_cast<std::size_t>(job)] != 0 || taken_job_[static_cast<std::size_t>(other)] != 0;
  }
  bool NoneTaken() const {
    return std::all_of(taken_.begin(), taken_.end(), [](const auto& taken) { return taken.empty(); });
  }
  void SortByGang(std::vector<Queued>& queue);
  void Place(const ClusterView& view, Decision& decision);  // _assign_workers_to_job
  void PlaceType(const ClusterView& view, int type, Decision& decision);
  // A gang that was taken on fewer GPUs than it has stays on some that are about to go.
  bool StaysInPlace(const ClusterView& view, const Queued& queued) const {
    return !IsPair(queued.unit) && queued.gang < view.Gang(queued.unit);
  }
  bool Stays(const ClusterView& view, int unit, int type);
  void StaysInPart(const ClusterView& view, int unit, int type, Decision& decision);
  void SetPlaced(int unit, int type);

  MechanismOptions options_;
  double half_round_ = 0.0;  // s
  double last_reset_ = 0.0;  // s
  double look_again_ = 0.0;  // s; clocks without rounds: until then the last choice holds
  std::vector<int> room_;    // [G] GPUs in service at the last decision
  std::vector<int> apart_;   // jobs IsApart then
  bool starts_cost_ = false;
  std::vector<std::uint8_t> starting_;  // [J] it runs, and has made no progress since it started before now
  std::vector<double> started_, steps_, from_steps_;  // [J] its run's begin, its steps now and at the begin
  std::vector<int> starting_gpus_;                    // [G] of such units
  bool dirty_ = true;
  std::optional<PythonRandom> random_;
  std::vector<int> reverse_order_;  // types by name, descending: v100, p100, k80
  std::vector<int> order_;          // of this round
  std::vector<int> jobs_;           // active, in arrival order
  std::vector<double> worktime_;    // [G] s
  // [J + pairs, G] each
  std::vector<Row> rows_;
  std::vector<std::uint8_t> tracked_, in_alloc_;  // [J]
  std::vector<double> attained_;                  // [J] s at the last decision; clocks without rounds
  std::vector<int> ran_on_;                       // [J] type since then, -1 = none
  std::vector<int> ran_as_;                       // [J] unit since then
  std::vector<std::array<int, 2>> pairs_;         // of the present allocation
  std::vector<int> live_pairs_;                   // units whose jobs are both here
  std::vector<std::uint8_t> counted_;             // [pairs]
  std::map<std::array<int, 2>, std::vector<double>> old_deficit_;  // [G] of pairs of earlier allocations
  bool ordered_ = false;                     // take and place all in order: who stays may depend on it
  int free_ = 0;                             // GPUs of the type that is being given out
  std::vector<int> left_;                    // [G] GPUs on which nobody runs that was taken
  std::vector<std::vector<Queued>> queues_;  // [G] who may run there
  std::vector<std::vector<Queued>> taken_;   // [G]
  std::vector<Queued> come_, sorted_;
  RadixSort<Queued> sort_;
  std::vector<std::uint8_t> taken_job_, taken_device_, placed_;  // [J], [D], [J]
  Allocation fresh_;
  std::vector<int> devices_, leaving_;  // leaving_: jobs on no GPUs but such as are about to go
};

}  // namespace berth::gavel
