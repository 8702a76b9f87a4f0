// The reference's fifo_perf (gavel/SPEC.md §2). Its base `fifo` is broken upstream (§8.1) and is not
// imitated.
#include "baselines/gavel/objectives.hpp"

namespace berth::gavel {

Allocation FifoAllocation(const Problem& problem, const std::vector<int>& type_order) {
  std::vector<int> free = problem.workers;
  Allocation x(problem.throughput.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    const int gang = problem.gang[static_cast<std::size_t>(i)];
    int best = -1;
    for (int type : type_order) {
      if (free[static_cast<std::size_t>(type)] < gang) continue;
      if (best < 0 || problem.throughput[problem.at(i, type)] > problem.throughput[problem.at(i, best)])
        best = type;
    }
    if (best < 0) break;
    if (problem.throughput[problem.at(i, best)] <= 0.0) continue;  // not in this pass; the scan goes on
    free[static_cast<std::size_t>(best)] -= gang;
    x[problem.at(i, best)] = 1.0;
  }
  return x;
}

}  // namespace berth::gavel
