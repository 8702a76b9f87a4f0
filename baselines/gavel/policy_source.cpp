#include "baselines/gavel/policy_source.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

class InRounds final : public Scheduler {
 public:
  InRounds(std::unique_ptr<PolicySource> source, const MechanismOptions& options)
      : source_(std::move(source)), options_(options) {}
  // Without rounds the mechanism itself reads attained service.
  Knowledge knowledge() const override {
    return source_->reads_future() ? Knowledge::kEstimate : Knowledge::kBlind;
  }
  void Reset(const ClusterView& view) override {
    mechanism_.Reset(view, options_);
    source_->Reset(view);
  }
  void Decide(const ClusterView& view, Decision& decision) override {
    mechanism_.Decide(view, *source_, decision);
  }

 private:
  std::unique_ptr<PolicySource> source_;
  MechanismOptions options_;
  RoundMechanism mechanism_;
};

// Of the jobs those that can run on some type with what there is to share of it now.
void FindPlaceable(const ClusterView& view, std::span<const int> jobs, std::vector<int>& placeable) {
  placeable.clear();
  const std::vector<int> gpus = GpusToShare(view);
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(placeable), [&](int job) {
    if (IsApart(view, job)) return false;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) > 0.0 && view.Gang(job) <= gpus[U(type)]) return true;
    }
    return false;
  });
}

// The shares of some of the jobs among those of all, both ascending; the others have none.
void SpreadRows(std::span<const int> jobs, std::span<const int> some, const Allocation& of_some,
                Allocation& x) {
  const std::size_t types = of_some.size() / some.size();
  std::size_t at = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    while (jobs[at] != some[i]) ++at;
    std::copy_n(of_some.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                x.begin() + static_cast<std::ptrdiff_t>(at * types));
  }
}

// What a policy is asked of these jobs; remaining and since only where it reads the future.
void DescribeProblem(const ClusterView& view, std::span<const int> jobs, bool reads_future,
                     Problem& problem) {
  problem.Clear();
  problem.workers = GpusToShare(view);
  for (const GpuType& type : view.types()) {
    problem.type_names.push_back(type.name);
    problem.price.push_back(type.price_per_hour);
  }
  for (const Tenant& tenant : view.tenants()) {
    if (tenant.inner_policy != "fairness" && tenant.inner_policy != "fifo") {
      throw Error(Join("tenant '", tenant.name, "': inner_policy: expected fairness or fifo, found '",
                       tenant.inner_policy, "'"));
    }
    problem.tenants.push_back({tenant.weight, tenant.inner_policy == "fifo"});
  }
  if (problem.tenants.empty()) problem.tenants.push_back({});
  for (int job : jobs) {
    problem.key.push_back(job);
    problem.gang.push_back(view.Gang(job));
    problem.weight.push_back(view.Weight(job));
    problem.tenant.push_back(view.TenantOf(job));
    problem.left.push_back(view.Deadline(job) - view.now());
    for (int type = 0; type < view.num_types(); ++type) {
      const bool fits = view.Gang(job) <= problem.workers[U(type)];
      problem.throughput.push_back(fits ? view.Rate(job, type) : 0.0);
    }
    if (!reads_future) continue;
    // Under clock event a job may stand one rounding error short of its end: leave it a billionth of its
    // work.
    problem.remaining.push_back(std::max(view.RemainingSteps(job), 1e-9 * view.TotalSteps(job)));
    problem.since.push_back(view.now() - view.Arrival(job));
  }
}

}  // namespace

std::unique_ptr<Scheduler> RunInRounds(std::unique_ptr<PolicySource> source,
                                       const MechanismOptions& options) {
  return std::make_unique<InRounds>(std::move(source), options);
}

void StandIn::Reset(const ClusterView& view) {
  previous_.assign(U(view.num_jobs()) * U(view.num_types()), 0.0);
  had_one_.assign(U(view.num_jobs()), 0);
}

void StandIn::Remember(std::span<const int> jobs, const Allocation& x) {
  const std::size_t types = jobs.empty() ? 0 : x.size() / jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    had_one_[U(jobs[i])] = 1;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types));
  }
}

void StandIn::Take(const Problem& problem, std::span<const int> jobs, const char* reason, Allocation& x) {
  if (++count_ == 1) {
    std::fprintf(stderr, "%s: %s; the %s used (said once)\n", name_.c_str(), reason,
                 fall_back_ == FallBack::kIsolated ? "isolated split is" : "previous allocation is");
  }
  x = IsolatedAllocation(problem);
  if (fall_back_ == FallBack::kPrevious) TakePrevious(jobs, x);
}

void StandIn::TakePrevious(std::span<const int> jobs, Allocation& x) const {
  const std::size_t types = jobs.empty() ? 0 : x.size() / jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (had_one_[U(jobs[i])] == 0) continue;
    std::copy_n(previous_.begin() + static_cast<std::ptrdiff_t>(U(jobs[i]) * types), types,
                x.begin() + static_cast<std::ptrdiff_t>(i * types));
  }
}

void PolicyAllocations::Reset(const ClusterView& view) {
  for (int job = 0; job < view.num_jobs() && !view.some_jobs(); ++job) {  // now, and not when it comes
    if (view.GangToCome(job) > objective_->largest_gang())
      throw Error(Join(stand_in_.name(), ": expected jobs of ", objective_->largest_gang(),
                       " GPU, found a gang of ", view.GangToCome(job)));
  }
  objective_->Reset(view.seed());
  stand_in_.Reset(view);
}

void PolicyAllocations::Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) {
  x.assign(jobs.size() * U(view.num_types()), 0.0);
  FindPlaceable(view, jobs, placeable_);
  if (placeable_.empty()) return;
  DescribeProblem(view, placeable_, reads_future(), problem_);
  Allocation its(problem_.throughput.size(), 0.0);
  if (!objective_->Allocate(problem_, its)) {
    stand_in_.Take(problem_, placeable_, objective_->failure(), its);
  } else if (least_change_) {
    Allocation last = its;
    stand_in_.TakePrevious(placeable_, last);
    promise_ = {};
    objective_->Promised(problem_, its, promise_);
    least_change_->Settle(problem_, promise_, last, its);
  }
  stand_in_.Remember(placeable_, its);
  SpreadRows(jobs, placeable_, its, x);
}

void PackedAllocations::Reset(const ClusterView& view) {
  objective_->Reset(view.seed());
  pairs_ = {};
  stand_in_.Reset(view);
}

void PackedAllocations::Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) {
  x.assign(jobs.size() * U(view.num_types()), 0.0);
  FindPlaceable(view, jobs, placeable_);
  if (placeable_.empty()) {
    pairs_ = {};
    return;
  }
  Describe(view, placeable_);
  if (objective_->Allocate(problem_, answer_)) {
    pairs_.jobs.clear();
    for (const auto [a, b] : answer_.pairs) pairs_.jobs.push_back({placeable_[U(a)], placeable_[U(b)]});
    pairs_.share = answer_.together;
  } else {
    answer_ = {};
    KeepPairs(view);
    stand_in_.Take(problem_.base, placeable_, objective_->failure(), answer_.alone);
  }
  stand_in_.Remember(placeable_, answer_.alone);
  SpreadRows(jobs, placeable_, answer_.alone, x);
}

void PackedAllocations::Describe(const ClusterView& view, std::span<const int> jobs) {
  DescribeProblem(view, jobs, reads_future(), problem_.base);
  const Problem& base = problem_.base;
  // What Scenario::PairRate looks at, but for where the jobs can run.
  std::map<std::array<int, 3>, int> kinds;
  std::vector<int> one;  // [kinds, G] a job of the kind that can run there, -1 = none
  problem_.kind.clear();
  for (int i = 0; i < base.jobs(); ++i) {
    const int job = jobs[U(i)];
    const auto [at, fresh] =
        kinds.try_emplace({view.JobType(job), view.GpuMilli(job), static_cast<int>(view.QosOf(job))},
                          static_cast<int>(kinds.size()));
    problem_.kind.push_back(at->second);
    if (fresh) one.resize(one.size() + U(base.types()), -1);
    for (int j = 0; j < base.types(); ++j) {
      if (base.gang[U(i)] == 1 && base.throughput[base.at(i, j)] > 0.0) one[base.at(at->second, j)] = job;
    }
  }
  const int n = problem_.kinds = static_cast<int>(kinds.size());
  problem_.beside.assign(U(n) * one.size(), 0.0);
  for (int a = 0; a < n && view.has_pairs(); ++a) {
    for (int b = 0; b < n; ++b) {
      for (int j = 0; j < base.types(); ++j) {
        const int job = one[base.at(a, j)], other = one[base.at(b, j)];
        if (job >= 0 && other >= 0) problem_.beside[base.at(a * n + b, j)] = view.PairRate(job, other, j);
      }
    }
  }
}

// Those whose two jobs are still here, where what each had stands in.
void PackedAllocations::KeepPairs(const ClusterView& view) {
  const std::size_t types = problem_.base.workers.size();
  std::size_t kept = 0;
  for (std::size_t p = 0; p < pairs_.jobs.size() && stand_in_.fall_back() == FallBack::kPrevious; ++p) {
    if (view.IsDone(pairs_.jobs[p][0]) || view.IsDone(pairs_.jobs[p][1])) continue;
    std::copy_n(pairs_.share.begin() + static_cast<std::ptrdiff_t>(p * types), types,
                pairs_.share.begin() + static_cast<std::ptrdiff_t>(kept * types));
    pairs_.jobs[kept++] = pairs_.jobs[p];
  }
  pairs_.jobs.resize(kept);
  pairs_.share.resize(kept * types);
}

}  // namespace berth::gavel
