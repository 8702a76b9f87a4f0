// A cluster as somebody else's simulator, scheduler or script describes it at one moment, made into the view
// that schedulers of ours are shown. What the C API and `berth serve` are made of.
//
//   ForeignCluster cluster;  ... now_s, types, jobs, rates ...
//   ForeignView foreign(cluster, Knowledge::kOracle);   // throws Error on the first rule broken
//   scheduler.Reset(foreign.view()), scheduler.Decide(foreign.view(), decision);
//
// For a policy that does more than put jobs on types it also says what is beside that: on how many GPUs jobs
// run and could, how fast, and who shares a GPU with whom (ForeignDecider::DecideCommands).
//
// Nothing is remembered from one moment to the next: who calls holds the state.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

// A job that has arrived and is not done.
struct ForeignJob {
  double arrival_s = 0.0;        // at most now_s
  double remaining_steps = 1.0;  // > 0; only read where the scheduler uses estimate or oracle
  // Seconds on GPUs so far, the gang counted once; only read from blind upwards, and of a job that runs by
  // whoever backfills, to whom it has run since.
  double attained_s = 0.0;
  double weight = 1.0;                                            // > 0
  double deadline_s = kNever;                                     // from arrival_s on; kNever = none
  double requested_s = std::numeric_limits<double>::quiet_NaN();  // > 0; NaN = no request
  int gang = 1;                                                   // GPUs needed at once
  int running_on = -1;  // GPU type, where its rate as it runs there is above 0; -1 = it waits
  // Steps done so far; only read by blind policies of ObservationV3 and its blocks. NaN = not told.
  double attained_steps = std::numeric_limits<double>::quiet_NaN();
  // Only read of detailed clusters.
  int least = 0, most = 0;  // GPUs that it may run on, around its gang; 0 = its gang
  int width = 0;            // GPUs that it holds, of one that runs; 0 = its gang
  int beside = -1;          // position of the job that shares its one GPU, -1 = it has it alone
};

// Spans are the caller's and need to live only during the call.
struct ForeignCluster {
  double now_s = 0.0;                // s from any origin, that of all times
  std::span<const GpuType> types;    // [G] `count` of those that work; name and count are read
  std::span<const ForeignJob> jobs;  // [J] in any order; of equal arrivals the first named is the first come
  std::span<const double> rates;     // [J, G] steps/s of the whole gang, 0 = cannot run there
  bool changed = true;               // did a job arrive or complete since the previous decision?
  // Where jobs stand is laid out, as of a simulation: `least` to `beside` of jobs are read, and
  //   rates_by_width [J, W, G] steps/s on 1 to W GPUs, 0 = cannot run so; empty = on their gangs alone
  //   pair_rates [J, J, G] steps/s of the first while it shares a GPU with the second, of itself with one of
  //     its own kind, 0 = the two cannot share one; empty = nobody shares. Read where both have a gang of 1
  bool detailed = false;
  int max_width = 0;  // W
  std::span<const double> rates_by_width = {}, pair_rates = {};
};

// Copies what it needs. Thread rule: one thread at a time.
class ForeignView {
 public:
  // `granted`: the most that the scheduler uses of a job's future; `features`: of the cluster, of which there
  // are none unless it is detailed. Throws Error naming the job or type.
  ForeignView(const ForeignCluster& cluster, Knowledge granted, const Features& features = {});
  ForeignView(const ForeignView&) = delete;
  ForeignView& operator=(const ForeignView&) = delete;

  const ClusterView& view() const { return view_; }
  // The caller's position of the view's job: the view has them in order of arrival.
  int Position(int job) const { return order_[static_cast<std::size_t>(job)]; }

 private:
  std::vector<int> order_;  // [J] position by job of the view
  Scenario scenario_;
  SimState state_;
  ClusterView view_;
};

}  // namespace berth
