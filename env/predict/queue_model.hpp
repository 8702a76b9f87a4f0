// A queue of rigid jobs played to its end, taking requests for the truth: what rollouts
// (env/gym/blocks/lookahead.cpp) compare first choices by.
//
//   model.Reset(types, now, room);
//   model.Runs(end, type, gpus) ...
//   if (model.EverFits(gang, seconds)) model.Waits(arrival, gang, seconds); ...
//   if (model.EverFits(gang, seconds)) model.Comes(arrival, gang, seconds); ...
//   const double cost = model.Play(first, rules);    // of all who wait or come
//
// One job goes first, the others least area first (SAF: requested seconds on the fastest type x gang), each
// on the fastest type with room. On one type the rules are the simulator's
// (tests/queue_model_test plays both), but that GPUs are freed at the very second, also under clock `rounds`.
// On several, one type is reserved for a job that does not fit: the first to have room.
#pragma once

#include <span>
#include <vector>

namespace berth {

struct QueueRules {
  bool commit = false;    // the first of the queue blocks all others until it fits; else as redecided
  bool backfill = false;  // commit: as published with RLScheduler (commit_backfill.hpp); else EASY
  double hour = 0.0;      // what an hour of waiting costs beside the bounded slowdown
};

// Thread rule: one thread at a time. Allocates only where there are more jobs than ever before.
class QueueModel {
 public:
  // Nobody runs, waits or comes. room [G]: idle GPUs.
  void Reset(int types, double now, std::span<const int> room);
  void Runs(double end, int type, int gpus);  // until `end`, s; kNever = they do not come back
  // seconds [G]: run time on each type, kNever where it cannot run. Does a type get as much room, when all
  // has ended?
  bool EverFits(int gang, std::span<const double> seconds) const;
  // Of jobs that ever fit, or BERTH_CHECK fails. Returns the job's number, from 0 on.
  int Waits(double arrival, int gang, std::span<const double> seconds);  // in order of arrival
  int Comes(double arrival, int gang, std::span<const double> seconds);  // likewise, later than now
  void NobodyComes();                                                    // those who wait stay

  // The numbers of those who wait, least area first, of equal ones who came first.
  std::span<const int> order();
  // `first`: a number of one who waits. The sum over jobs of bounded slowdown + rules.hour x hours waited.
  double Play(int first, const QueueRules& rules);

 private:
  struct Job {
    double arrival, area, shortest;  // s, GPU s, s on its fastest type
    int gang;
  };
  struct Running {
    double end;
    int type, gpus;
  };
  struct Shadow {
    double time;
    int type, spare;
  };

  static void Insert(const Running& run, std::size_t from, std::vector<Running>& by_end);
  int Add(double arrival, int gang, std::span<const double> seconds);
  double Seconds(int job, int type) const;
  // The fastest type with room that `allowed(type)`, -1 = none.
  template <typename Allowed>
  int FastestFit(int job, Allowed allowed) const;
  int FastestFit(int job) const;
  void Start(int job, int type);
  bool NextEnd();                             // the time of the next end; frees its GPUs
  void Arrive();                              // who comes next is in the queue
  Shadow WhenFits(int job);                   // if nobody else starts
  void Fill(int but, double shadow);          // the published backfill
  void FillEasy(std::size_t from, int head);  // EASY behind `head`, who does not fit
  bool NextEvent();                           // of clock hpc: one arrival or one end
  double PlayCommit(int first, bool backfill);
  double PlayRedecide(int first, bool easy);

  int types_ = 0, waiting_ = 0;
  double begin_ = 0.0;
  std::vector<int> begin_room_, all_room_;  // [G] idle now; when all has ended
  std::vector<Running> begin_running_;      // by end
  std::vector<Job> jobs_;
  std::vector<double> seconds_;  // [jobs, G]
  std::vector<int> order_;       // of those who wait; empty = to be sorted

  // while playing
  double now_ = 0.0, cost_ = 0.0, hour_ = 0.0;
  std::size_t ended_ = 0;         // of running_
  std::size_t come_ = 0;          // of jobs_
  std::size_t pinned_ = 0;        // of queue_: before whom nobody is put
  std::vector<int> room_, back_;  // [G]
  std::vector<Running> running_;  // by end
  std::vector<int> queue_;        // in order of area
  std::vector<int> by_arrival_;
  std::vector<char> started_;  // [jobs]
};

}  // namespace berth
