// A scheduler inside another one: made from a spec string, shown some of the jobs and GPUs
// (env/sim/view_part.hpp).
//
//   Inner inner("hierarchical: parameter 'inner'", "srpt");
//   inner.Reset(view);
//   inner.Begin(view);                              // all GPUs, no jobs
//   for (int job : view.active()) if (...) inner.Show(view, job);
//   inner.Decide(view, decision);                   // appends its commands
//
// What it is shown for the first time has just arrived, for it. Where a job that it was shown is hidden
// before it ends, or shown again, it starts afresh from what it now sees: schedulers follow arrivals, and
// jobs that come and go are none. Once it has seen its last job leave it is not asked while there is nothing
// to see.
#pragma once

#include <memory>
#include <string>

#include "env/sim/scheduler.hpp"
#include "env/sim/view_part.hpp"

namespace berth {

// Adds what `from` commands to `to`; the earlier wake-up of the two stays.
void Append(const Decision& from, Decision& to);

class Inner {
 public:
  // By its spec, from the tables of the scheduler around it, which is being made: a frozen policy where they
  // hold such. Throws Error naming `what` before what is wrong with it.
  Inner(const std::string& what, const std::string& spec);
  Inner Another() const;  // a new one of the same spec, at any time
  Knowledge knowledge() const { return scheduler_->knowledge(); }
  bool resizes() const { return scheduler_->resizes(); }

  // `some_jobs`: others may be shown to somebody else alone.
  void Reset(const ClusterView& view, bool some_jobs = false);
  void Begin(const ClusterView& view);
  void Show(const ClusterView& view, int job);
  // May hold at most `count` GPUs of the type, and take `free` idle ones now.
  void Limit(int type, int count, int free);
  // Total steps by job that stand for the truth from now on; it may then need estimates whatever is granted.
  std::vector<double>& predicted() { return part_.predicted; }
  // Appends to `decision`; the earlier wake-up of the two stays.
  void Decide(const ClusterView& view, Decision& decision);
  // Begin, Show for all active jobs, Decide.
  void DecideAll(const ClusterView& view, Decision& decision);
  // It forgets what it remembers of jobs: what it last decided was not carried out.
  void Forget(const ClusterView& view);

 private:
  ClusterView Part(const ClusterView& view) const { return ClusterView(view, part_, knowledge()); }

  Inner(std::string spec, std::vector<SchedulerTable> tables);

  std::string spec_;
  std::vector<SchedulerTable> tables_;
  std::unique_ptr<Scheduler> scheduler_;
  ViewPart part_;
  bool Continues(const ClusterView& view) const;

  std::vector<char> shown_;  // [J] ever
  std::vector<int> before_;  // active at the last decision
  Decision own_;
};

// GPUs that a start or move asks for.
int WidthOf(const ClusterView& view, const Command& command);

}  // namespace berth
