// The waiting jobs in the order of a score, kept from one decision to the next.
//
//   queue.Track(view, view.Follows(mark));       // at every decision point
//   if (queue.NoneFits(plan)) return;            // O(S + G): the smallest gang is too large everywhere
//   queue.Rewind(view);
//   for (int job = queue.Next(); job >= 0; job = queue.Next(opening)) ...
//
// Scores that stay while a job waits: arrivals, departures and every Next cost O(S G log n), with n waiting
// jobs of S gang sizes and G types, also where Next passes over thousands that do not fit. Scores that move
// with time: Rewind scores all, O(n), and Next is O(log n).
#pragma once

#include <span>
#include <vector>

#include "baselines/queue/job_tree.hpp"
#include "baselines/queue/order.hpp"
#include "env/predict/run_times.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/plan.hpp"

namespace berth {

struct Reservation {
  int type = -1;          // -1 = none
  double start = kNever;  // s
  // GPUs of the type that its holder leaves once the first release, by (time, job), lets it start; what
  // others free at that instant does not count, as the recorded figures want it (tests/hpc_golden_test.cpp).
  int spare = 0;
};

// Where jobs could start now: the room that a plan leaves on every type and, where the head of the queue
// holds a reservation on one of them, what may run there without delaying it. As jobs are put into the plan
// the opening only narrows: who does not fit now will not fit later in the same decision.
// Refers to the view and the plan that it is made of.
class Opening {
 public:
  Opening(const ClusterView& view, const Plan& plan) : view_(view), plan_(plan) {}
  Reservation reservation;

  // May a gang start on `type` that is thought to run there for `seconds`; kNever = it cannot run there.
  bool Allows(int gang, int type, double seconds) const {
    if (seconds == kNever || gang > plan_.room(type)) return false;
    return !Reserved(type) || gang <= reservation.spare || EndsInTime(seconds);
  }
  // ... on some type? `seconds` [G]. Where it holds for the least of several jobs, type by type, it holds for
  // one of them.
  bool Allows(int gang, std::span<const double> seconds) const {
    for (int type = 0; type < static_cast<int>(seconds.size()); ++type) {
      if (Allows(gang, type, seconds[static_cast<std::size_t>(type)])) return true;
    }
    return false;
  }
  // Would a gang that starts on `type` use GPUs that the reservation leaves?
  bool UsesSpare(int type, double seconds) const { return Reserved(type) && !EndsInTime(seconds); }

 private:
  bool Reserved(int type) const { return type == reservation.type; }
  bool EndsInTime(double seconds) const {
    return NoLater(ReleaseAfter(view_, view_.now(), seconds), reservation.start);
  }

  const ClusterView& view_;
  const Plan& plan_;
};

// Thread rule: one thread at a time. Allocates only until its arrays have grown to the longest queue.
class ScoreQueue {
 public:
  // `timed`: Next is asked for jobs that keep clear of a reservation, so run times are read (kEstimate).
  ScoreQueue(const ScoreRule& rule, bool timed) : rule_(rule), timed_(timed) {}
  void Reset() { known_ = false; }
  // Brings itself up to the waiting jobs. `follows`: ClusterView::Follows, of a mark that is asked at every
  // decision.
  void Track(const ClusterView& view, bool follows);
  // No waiting job fits what `plan` leaves on any type.
  bool NoneFits(const Plan& plan) const;
  bool NoneFits(int room) const;  // ... `room` GPUs

  // To the head of the queue at the present time.
  void Rewind(const ClusterView& view);
  // The next job in order, of all; -1 behind the last. Jobs that were put into a plan meanwhile come too.
  int Next();
  // ... of those that `opening` allows somewhere. Since the last Rewind openings may only narrow.
  int Next(const Opening& opening);
  double Score(const ClusterView& view, int job) const { return rule_.score(view, job); }

 private:
  using Entry = JobTree::Entry;
  struct GangClass {  // waiting jobs of one gang size
    int gang;
    int count;
    JobTree order;  // scores that stay; lanes: seconds on each type, kNever where it cannot run
  };
  GangClass& ClassOf(int gang);
  void Add(const ClusterView& view, int job);
  void Remove(const ClusterView& view, int job);
  void Seconds(const ClusterView& view, int job);  // into seconds_

  ScoreRule rule_;
  bool timed_;
  bool known_ = false;
  std::vector<GangClass> classes_;  // ascending gangs
  std::vector<double> score_;       // [J] of those in a class, valid where listed_
  std::vector<bool> listed_;        // [J]
  std::vector<double> seconds_;     // [G] scratch

  const ClusterView* view_ = nullptr;  // since Rewind, moving scores
  Entry at_ = JobTree::kNone;          // the last one returned
  std::vector<Entry> heap_;            // moving scores: those still to come
  bool narrowed_ = false;              // heap_ holds only jobs that fitted
};

}  // namespace berth
