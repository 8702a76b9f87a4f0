// AlloX (Le et al., EuroSys 2020; as in Gavel's policies/allox.py): mean completion time by a
// minimum cost matching of jobs to (worker, place from the end of its queue). Single-GPU jobs.
#pragma once

#include <vector>

#include "baselines/cheapest_assignment.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// A job in the k-th place from the end of its worker's queue delays itself and the k - 1 behind it, so it
// costs k remaining/T, and the time since its arrival besides. On each worker the job of the largest k runs
// first, and keeps its GPU to its end: a job that was given one is no longer asked about, unless all GPUs of
// the type have left service.
//
// Workers of a type are alike, so one column stands for each (type, k, worker) with k up to the queue that
// the type fills evenly: an empty earlier place is always cheaper, hence no optimum goes beyond it.
class Allox {
 public:
  void Reset() { type_of_.clear(); }
  // `cost` gets the matching's. Throws Error for a job of more than one GPU.
  Allocation Allocate(const Problem& problem, double* cost = nullptr);

 private:
  std::vector<int> type_of_;  // by key, -1 = none yet
};

}  // namespace berth::gavel
