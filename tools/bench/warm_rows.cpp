// Solvers that start from their last answer (solver=warm), and the allocation nearest to the last one
// (ties=stable): 12 types, 10,000 GPUs, 10,000 unlike jobs.
#include <algorithm>
#include <cmath>

#include "baselines/gavel/objective_list.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/unlike_jobs.hpp"

namespace berth::bench {
namespace {

constexpr int kWarmJobs = 10'000, kWarmTypes = 12, kMeanGpus = 833;

// Jobs in order of arrival; each change is by turns an arrival and the end of the one that is there longest.
class Stream10k {
 public:
  explicit Stream10k(int changes) : all_(UnlikeJobs(kWarmJobs + changes, kWarmTypes, kMeanGpus)) {
    Stream random(/*seed=*/3, Purpose::kTest);
    for (int job = 0; job < all_.jobs(); ++job) {
      all_.remaining.push_back(all_.throughput[all_.at(job, 0)] * random.Uniform(1e3, 1e6) + 1e3);
      all_.since.push_back(random.Uniform(0.0, 1e4));
      all_.left.push_back(INFINITY);
      all_.tenant.push_back(0);
    }
    all_.tenants.push_back({});
  }
  void Change() { ++((first_ + end_) % 2 == 0 ? end_ : first_); }
  void Pass(double seconds, const gavel::Allocation& x) {
    for (int job = first_; job < end_; ++job) {
      double steps = 0.0;
      for (int type = 0; type < kWarmTypes; ++type)
        steps += all_.throughput[all_.at(job, type)] * x[all_.at(job - first_, type)];
      double& remaining = all_.remaining[U(job)];
      remaining = std::max(remaining - seconds * steps, 0.1 * remaining);
      all_.since[U(job)] += seconds;
    }
  }
  gavel::Problem Now() const {
    gavel::Problem now;
    now.workers = all_.workers, now.type_names = all_.type_names, now.tenants = all_.tenants;
    const auto part = [this](const auto& from, auto& to, int width) {
      to.assign(from.begin() + first_ * width, from.begin() + end_ * width);
    };
    part(all_.key, now.key, 1), part(all_.gang, now.gang, 1), part(all_.weight, now.weight, 1);
    part(all_.remaining, now.remaining, 1), part(all_.since, now.since, 1), part(all_.left, now.left, 1);
    part(all_.tenant, now.tenant, 1), part(all_.throughput, now.throughput, kWarmTypes);
    return now;
  }

 private:
  gavel::Problem all_;
  int first_ = 0, end_ = kWarmJobs;
};

std::unique_ptr<gavel::Objective> Make(const gavel::ObjectiveInfo& info, bool warm) {
  Params params(Spec{}, info.params);
  gavel::ObjectiveOptions options;
  options.compat = false, options.warm = warm;
  return info.make(options, params);
}

gavel::Allocation Solve(gavel::Objective& objective, const gavel::Problem& problem, double* cpu_seconds) {
  gavel::Allocation x;
  const double begin = CpuSeconds();
  if (!objective.Allocate(problem, x)) throw Error(Join("the policy found no answer: ", objective.failure()));
  *cpu_seconds = CpuSeconds() - begin;
  return x;
}

// A solve after one arrival or one end, as part of one from nothing.
template <gavel::ObjectiveInfo (*Info)()>
Measured Again(const BenchSetup& setup) {
  Stream10k jobs(setup.repeats + 1);
  const auto warm = Make(Info(), true);
  double of_warm = 0.0, of_cold = 0.0;
  (void)Solve(*warm, jobs.Now(), &of_warm);
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    jobs.Change();
    const gavel::Problem now = jobs.Now();
    (void)Solve(*warm, now, &of_warm), (void)Solve(*Make(Info(), false), now, &of_cold);
    measured.values.push_back(of_warm / of_cold);
  }
  measured.detail["warm_cpu_s"] = of_warm, measured.detail["cold_cpu_s"] = of_cold;
  return measured;
}

// All of a decision but the rounds: ten minutes after the last, one job came or went, the optimum and of the
// optima the one nearest to the last allocation.
template <gavel::ObjectiveInfo (*Info)()>
Measured Stable(const BenchSetup& setup) {
  Stream10k jobs(setup.repeats + 1);
  const auto warm = Make(Info(), true);
  gavel::LeastChange least_change(kLpInfinity);
  double seconds = 0.0;
  gavel::Allocation last = Solve(*warm, jobs.Now(), &seconds);
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    jobs.Pass(600.0, last);
    const gavel::Problem before = jobs.Now();
    jobs.Change();
    const gavel::Problem now = jobs.Now();
    gavel::Allocation x = Solve(*warm, now, &seconds);
    gavel::Allocation from = x;
    for (int job = 0; job < now.jobs(); ++job) {
      const int old = now.key[U(job)] - before.key.front();
      if (old >= before.jobs()) continue;
      std::copy_n(last.begin() + old * kWarmTypes, kWarmTypes, from.begin() + job * kWarmTypes);
    }
    const double begin = CpuSeconds();
    gavel::Promise promise;
    warm->Promised(now, x, promise);
    least_change.Settle(now, promise, from, x);
    measured.values.push_back(seconds + CpuSeconds() - begin);
    last = std::move(x);
  }
  return measured;
}

#define BERTH_WARM_ROWS(name, objective, info)                                                              \
  {"solvers/warm_" name,                                                                                    \
   objective " after one arrival or end, from the last answer",                                             \
   "of cold",                                                                                               \
   Bound::kAtMost,                                                                                          \
   0.1,                                                                                                     \
   0,                                                                                                       \
   Again<gavel::info>},                                                                                     \
  {                                                                                                         \
    "solvers/stable_" name, objective " and the optimum nearest to the last one, in steady state", "CPU s", \
        Bound::kAtMost, 1, 0, Stable<gavel::info>                                                           \
  }

constexpr BenchRow kWarmRows[] = {
    BERTH_WARM_ROWS("max_min", "aware max-min, 10,000 jobs x 12 types", MaxMinObjective),
    BERTH_WARM_ROWS("makespan", "makespan, 10,000 jobs x 12 types", MakespanObjective),
    BERTH_WARM_ROWS("finish_time_fairness", "finish-time fairness, 10,000 jobs x 12 types",
                    FinishTimeFairnessObjective),
    BERTH_WARM_ROWS("max_sum_throughput", "sum of throughputs, 10,000 jobs x 12 types",
                    MaxSumThroughputObjective),
    BERTH_WARM_ROWS("proportional_fairness", "proportional fairness, 10,000 jobs x 12 types",
                    ProportionalFairnessObjective),
    BERTH_WARM_ROWS("water_filling", "full water filling, 10,000 jobs x 12 types", WaterFillingObjective),
};

}  // namespace

std::span<const BenchRow> WarmRows() {
  return kWarmRows;
}

}  // namespace berth::bench
