// What a scheduler that works inside another one is shown: some of the jobs, some of the GPUs, and, where it
// plans with predictions, those in place of the truth. The scheduler outside fills it at every decision point
// and hands on ClusterView(view, part, granted); per-job columns stay those of the whole view.
#pragma once

#include <vector>

#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

struct ViewPart {
  std::vector<int> waiting, running, active, arrived, completed;  // ascending, as in ClusterView
  std::vector<Segment> segments;
  std::vector<GpuType> types;     // [G] `count` is what the part may hold at most
  std::vector<int> free_gpus;     // [G] idle GPUs that it may take
  std::vector<double> predicted;  // [J] total steps that stand for the truth; empty = the truth
  bool some_jobs = false;         // a job that is yet to arrive may never be shown
};

}  // namespace berth
