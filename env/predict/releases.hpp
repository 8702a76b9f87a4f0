// When GPUs of a type are thought to come back: what backfilling, reservations and the encoder `Batch` plan
// with. GPUs that leave service with their job do not come back. Estimates are those of run_times.hpp.
//
//   releases.Collect(view, type, &plan);             // running jobs, and those that the plan has put
//   const Vacancy vacancy = releases.When(gang);     // the first time at which so many are free
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "env/sim/plan.hpp"

namespace berth {

struct Vacancy {
  double time;  // s; now where they are free, kNever where what runs does not give them back
  int spare;    // GPUs free then beyond the gang, counted job by job in order of (time, job)
};

// Thread rule: one thread at a time. Allocates only where more jobs run than ever before. Needs kEstimate
// where jobs request nothing.
class Releases {
 public:
  // Of a plan begun non-preemptively, or of the cluster as it is where `plan` is null. `room` GPUs are free.
  void Collect(const ClusterView& view, int type, int room, const Plan* plan);
  Vacancy When(int gang) const;
  std::span<const std::tuple<double, int, int>> order() const { return order_; }  // (time, job, GPUs), sorted

 private:
  double now_ = 0.0;
  int room_ = 0;
  std::vector<std::tuple<double, int, int>> order_;  // (time, job, GPUs)
};

}  // namespace berth
