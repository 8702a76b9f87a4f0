// How long a job that changes its batch size will still train, as Shockwave (Zheng et al., NSDI 2023, sec. 5)
// forecasts it.
#pragma once

#include <vector>

#include "env/features/batch_schedule/batch_schedule.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

enum class Forecast {
  kPosterior,  // which batches will come is known, and not when: as below
  kKnown,      // its schedule
  kNone,       // that it stays as fast as it is
};

// Seconds of a job's training so far, and of what is left.
struct TrainingTimes {
  double past = 0.0, left = 0.0;
};

// Of a decision point. A Dirichlet distribution over the K batches of a job: at first each is to have 1 / K
// of its training, then what was seen counts as much as that. With f_b of the job done at batch b, f in all,
// b is to have
//   s_b = (1 / K + f_b) / (1 + f)
// of it, of which r_b = max(0, s_b - f_b) is left, and what is left takes (1 - f) sum_b r_b T_b / sum_b r_b,
// T_b being the time of the whole job at b. As dirichlet_posterior_remaining_runtime in JobMetaData.py of the
// authors' program has it, where all of that is counted in epochs.
class BatchForecast {
 public:
  BatchForecast(const ClusterView& view, Forecast how)
      : schedule_(how == Forecast::kNone ? nullptr : view.Find<BatchScheduleState>()), how_(how) {}

  bool Applies(int job) const { return schedule_ != nullptr && schedule_->Changes(job); }
  // REQUIRES: Applies, and that it can run there. At least kEstimate.
  TrainingTimes On(const ClusterView& view, int job, int type) const;

 private:
  const BatchScheduleState* schedule_;  // null = none
  Forecast how_;
};

}  // namespace berth
