#include "baselines/gavel/packed_allocations.hpp"

#include <algorithm>
#include <cstdio>

#include "env/base/index.hpp"

namespace berth::gavel {
void PackedAllocations::Reset(const ClusterView& view) {
  objective_->Reset(view.seed());
  pairs_ = {};
  previous_.assign(U(view.num_jobs()) * U(view.num_types()), 0.0);
  had_one_.assign(U(view.num_jobs()), 0);
}

void PackedAllocations::Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) {
  Describe(view, jobs);
  if (objective_->Allocate(problem_, answer_)) {
    pairs_.jobs.clear();
    for (const auto [a, b] : answer_.pairs) pairs_.jobs.push_back({jobs[U(a)], jobs[U(b)]});
    pairs_.share = answer_.together;
  } else {
    TakeFallBack(view, jobs);
  }
  x = answer_.alone;
  const std::size_t types = U(view.num_types());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    had_one_[U(jobs[i])] = 1;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types));
  }
}

void PackedAllocations::Describe(const ClusterView& view, std::span<const int> jobs) {
  DescribeProblem(view, jobs, reads_future(), problem_.base);
  problem_.kind.clear();
  for (int job : jobs) problem_.kind.push_back(view.JobType(job));
  problem_.beside.assign(jobs.size() * problem_.base.throughput.size(), 0.0);
  if (!view.has_pairs()) return;
  const int m = static_cast<int>(jobs.size());
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < m && problem_.base.gang[U(i)] == 1; ++k) {
      if (k == i || problem_.base.gang[U(k)] != 1) continue;
      for (int j = 0; j < view.num_types(); ++j) {
        problem_.beside[problem_.base.at(i * m + k, j)] = view.PairRate(jobs[U(i)], jobs[U(k)], j);
      }
    }
  }
}

void PackedAllocations::TakeFallBack(const ClusterView& view, std::span<const int> jobs) {
  if (++fall_backs_ == 1) {
    std::fprintf(stderr, "%s: %s; the %s used (said once)\n", name_.c_str(), objective_->failure(),
                 fall_back_ == FallBack::kIsolated ? "isolated split is" : "previous allocation is");
  }
  answer_ = {IsolatedAllocation(problem_.base), {}, {}};
  const std::size_t types = problem_.base.workers.size();
  std::size_t kept = 0;
  for (std::size_t p = 0; p < pairs_.jobs.size() && fall_back_ == FallBack::kPrevious; ++p) {
    if (view.IsDone(pairs_.jobs[p][0]) || view.IsDone(pairs_.jobs[p][1])) continue;
    std::copy_n(pairs_.share.begin() + static_cast<std::ptrdiff_t>(p * types), types,
                pairs_.share.begin() + static_cast<std::ptrdiff_t>(kept * types));
    pairs_.jobs[kept++] = pairs_.jobs[p];
  }
  pairs_.jobs.resize(kept);
  pairs_.share.resize(kept * types);
  if (fall_back_ == FallBack::kIsolated) return;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (had_one_[U(jobs[i])] == 0) continue;
    std::copy_n(previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types), types,
                answer_.alone.begin() + static_cast<std::ptrdiff_t>(i * types));
  }
}

}  // namespace berth::gavel
