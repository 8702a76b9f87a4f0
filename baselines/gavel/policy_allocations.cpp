#include "baselines/gavel/policy_allocations.hpp"

#include <algorithm>
#include <cstdio>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
void PolicyAllocations::Reset(const ClusterView& view) {
  objective_->Reset(view.seed());
  previous_.assign(U(view.num_jobs()) * U(view.num_types()), 0.0);
  had_one_.assign(U(view.num_jobs()), 0);
}

void PolicyAllocations::Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) {
  DescribeProblem(view, jobs, reads_future(), problem_);
  if (!objective_->Allocate(problem_, x)) TakeFallBack(jobs, x);
  const std::size_t types = U(view.num_types());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    had_one_[U(jobs[i])] = 1;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types));
  }
}

void PolicyAllocations::TakeFallBack(std::span<const int> jobs, Allocation& x) {
  if (++fall_backs_ == 1) {
    std::fprintf(stderr, "gavel(objective=%s): %s; the %s used (said once)\n", name_, objective_->failure(),
                 fall_back_ == FallBack::kIsolated ? "isolated split is" : "previous allocation is");
  }
  x = IsolatedAllocation(problem_);
  if (fall_back_ == FallBack::kIsolated) return;
  const std::size_t types = problem_.workers.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (had_one_[U(jobs[i])] == 0) continue;
    std::copy_n(previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types), types,
                x.begin() + static_cast<std::ptrdiff_t>(i * types));
  }
}

}  // namespace berth::gavel
