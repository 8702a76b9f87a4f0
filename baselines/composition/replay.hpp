// The recent past once more, under other schedulers: which jobs were there, who arrived since, and what a
// scheduler would have made of them. What `guard` compares its two schedulers by.
//
//   replay.Begin(view);                          // the past starts here: a copy of who waits and runs
//   replay.Follow(view);                         // at every decision point after
//   if (replay.Close(view)) {                    // the past ends now
//     Flow a = replay.Run(policy, then_fallback);
//     Flow b = replay.Run(fallback, then_fallback);
//   }
//
// It is a model, and both are asked in the same one: rigid gangs on the whole GPUs in service, the told rates
// and the costs of stops; no features; clock event in place of rounds. Jobs have the places, the attained
// service and the arrivals that they had. Sizes are as good as what is known now: of who has ended the truth,
// of others what the view grants; where that is nothing, drawn from the sizes of those of the same type and
// gang that have ended and are larger than what the job has done (in its absence: of all). The schedulers
// inside are told no more than the real ones were: an estimate where the truth has become known since.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "env/base/rng.hpp"

namespace berth {

// Sizes of ended jobs in seconds on their fastest type, by (job type, gang).
class SizeSample {
 public:
  void Forget() { all_.clear(), kinds_.clear(); }
  void Add(int job_type, int gang, double seconds);
  // One of those above `least`, each as likely; 0 where there is none.
  double Draw(int job_type, int gang, double least, Stream& stream) const;

 private:
  using Sorted = std::vector<double>;
  static double Above(const Sorted& sizes, double least, Stream& stream);
  Sorted all_;
  std::map<std::pair<int, int>, Sorted> kinds_;
};

// Thread rule: one thread at a time.
class Replay {
 public:
  // Can the model show this cluster? Not where jobs hold other than their gang of whole GPUs, or do not end.
  static bool Shows(const ClusterView& view);

  void Reset() { sizes_.Forget(); }
  void Begin(const ClusterView& view);
  void Follow(const ClusterView& view);
  int events() const { return events_; }  // arrivals and completions since Begin

  // False where there is nothing to compare: no job, no size known, a job that fits nowhere at present.
  bool Close(const ClusterView& view);

  struct Flow {
    double job_seconds = 0.0;  // in the system from Begin until all are done
    double so_far = 0.0;       // of those, until Close
  };
  // `first` decides until the time of Close, `then` afterwards, without arrivals, until all are done. Nothing
  // where the run stalls, breaks a rule, or takes too long.
  std::optional<Flow> Run(Inner& first, Inner& then) const;

 private:
  struct Job {
    int index;                           // in the view
    double steps, seconds, gpu_seconds;  // attained at Begin
    double told;                         // remaining steps then, as told; 0 = not told
    int on_type, last_type;              // -1 = none
    double size = 0.0;                   // whole, in steps; by Close
  };

  void Add(const ClusterView& view, int job);
  bool Size(const ClusterView& view, Job& job) const;
  void Tell(Inner& inner) const;

  std::vector<Job> jobs_;  // by index
  SizeSample sizes_;
  double begin_ = 0.0, end_ = 0.0;  // s
  int events_ = 0;
  bool exact_ = true;  // what is told is the truth
  std::optional<Scenario> scenario_;
};

}  // namespace berth
