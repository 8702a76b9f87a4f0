#include "baselines/gavel/policy_allocations.hpp"

#include <algorithm>
#include <cstdio>

#include "env/check.hpp"

namespace berth::gavel {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

void PolicyAllocations::Reset(const ClusterView& view) {
  objective_->Reset(view.seed());
  previous_.assign(U(view.num_jobs()) * U(view.num_types()), 0.0);
  had_one_.assign(U(view.num_jobs()), 0);
}

void PolicyAllocations::Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) {
  Describe(view, jobs);
  if (!objective_->Allocate(problem_, x)) TakeFallBack(jobs, x);
  const std::size_t types = U(view.num_types());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    had_one_[U(jobs[i])] = 1;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types));
  }
}

void PolicyAllocations::Describe(const ClusterView& view, std::span<const int> jobs) {
  problem_.Clear();
  for (const GpuType& type : view.types()) {
    problem_.workers.push_back(type.count);
    problem_.type_names.push_back(type.name);
    problem_.price.push_back(type.price_per_hour);
  }
  for (const Tenant& tenant : view.tenants()) {
    if (tenant.inner_policy != "fairness" && tenant.inner_policy != "fifo") {
      throw Error(Join("tenant '", tenant.name, "': inner_policy: expected fairness or fifo, found '",
                       tenant.inner_policy, "'"));
    }
    problem_.tenants.push_back({tenant.weight, tenant.inner_policy == "fifo"});
  }
  if (problem_.tenants.empty()) problem_.tenants.push_back({});
  for (int job : jobs) {
    problem_.key.push_back(job);
    problem_.gang.push_back(view.Gang(job));
    problem_.weight.push_back(view.Weight(job));
    problem_.tenant.push_back(view.TenantOf(job));
    problem_.left.push_back(view.Deadline(job) - view.now());
    const auto rates = view.Rates(job);
    problem_.throughput.insert(problem_.throughput.end(), rates.begin(), rates.end());
    if (!reads_future()) continue;
    // Under clock event a job may stand one rounding error short of its end: leave it a billionth of its
    // work.
    problem_.remaining.push_back(std::max(view.RemainingSteps(job), 1e-9 * view.TotalSteps(job)));
    problem_.since.push_back(view.now() - view.Arrival(job));
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
