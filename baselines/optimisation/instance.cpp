#include "baselines/optimisation/instance.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/ranking.hpp"
#include "env/base/index.hpp"
#include "env/predict/run_times.hpp"

namespace berth {

double Occupy(std::vector<double>& free_at, int k, double ready, double seconds) {
  const double start = std::max(ready, free_at[U(k - 1)]), end = start + seconds;
  const auto rest = free_at.begin() + k;
  const auto at = std::upper_bound(rest, free_at.end(), end);
  std::fill(std::move(rest, at, free_at.begin()), at, end);
  return start;
}

double Fastest(const Instance& instance, int i) {
  double least = kNever;
  for (int type = 0; type < instance.types(); ++type) least = std::min(least, instance.at(i, type));
  return least;
}

double Instance::last_free() const {
  double last = 0.0;
  for (const auto& type : free_at) {
    if (!type.empty()) last = std::max(last, type.back());
  }
  return last;
}

void Describe(const ClusterView& view, Instance& instance) {
  instance.job.clear(), instance.gang.clear(), instance.weight.clear(), instance.seconds.clear();
  instance.free_at.resize(U(view.num_types()));
  for (int type = 0; type < view.num_types(); ++type) {
    instance.free_at[U(type)].assign(U(std::max(0, view.free_gpus()[U(type)])), 0.0);
  }
  for (int job : view.running()) {
    auto& free_at = instance.free_at[U(view.TypeOf(job))];
    free_at.insert(free_at.end(), U(GivenBack(view, job)), SecondsLeft(view, job));
  }
  for (auto& free_at : instance.free_at) std::sort(free_at.begin(), free_at.end());
  for (int job : view.waiting()) {
    const std::size_t row = instance.seconds.size();
    bool somewhere = false;
    for (int type = 0; type < view.num_types(); ++type) {
      const bool fits = view.Gang(job) <= static_cast<int>(instance.free_at[U(type)].size());
      const double left = fits ? view.RemainingSeconds(job, type) : kNever;
      instance.seconds.push_back(left < kNever ? left + ChangeSeconds(view, job, type) : kNever);
      somewhere = somewhere || left < kNever;
    }
    if (!somewhere) {
      instance.seconds.resize(row);
      continue;
    }
    instance.job.push_back(job);
    instance.gang.push_back(view.Gang(job));
    instance.weight.push_back(view.Weight(job));
  }
}

double ListSchedule::Value(const Instance& instance, const Assignment& assignment, Target target) {
  free_at_ = instance.free_at;
  ready_.assign(free_at_.size(), 0.0);
  end_.assign(instance.job.size(), 0.0);
  double latest = instance.last_free(), sum = 0.0;
  for (int i : assignment.order) {
    const int type = assignment.type[U(i)];
    const double seconds = instance.at(i, type);
    ready_[U(type)] = Occupy(free_at_[U(type)], instance.gang[U(i)], ready_[U(type)], seconds);
    end_[U(i)] = ready_[U(type)] + seconds;
    latest = std::max(latest, end_[U(i)]);
    sum += instance.weight[U(i)] * end_[U(i)];
  }
  return target == Target::kMakespan ? latest : sum;
}

Assignment EarliestFinish(const Instance& instance, std::span<const int> order) {
  Assignment assignment{{order.begin(), order.end()}, std::vector<int>(instance.job.size(), -1)};
  auto free_at = instance.free_at;
  std::vector<double> ready(free_at.size(), 0.0);
  for (int i : order) {
    int best = -1;
    double soonest = kNever;
    for (int type = 0; type < instance.types(); ++type) {
      if (instance.at(i, type) == kNever) continue;
      const double end =
          std::max(ready[U(type)], free_at[U(type)][U(instance.gang[U(i)] - 1)]) + instance.at(i, type);
      if (end < soonest) soonest = end, best = type;
    }
    assignment.type[U(i)] = best;
    ready[U(best)] = Occupy(free_at[U(best)], instance.gang[U(i)], ready[U(best)], instance.at(i, best));
  }
  return assignment;
}

Assignment Greedy(const Instance& instance, Target target, double& value) {
  std::vector<int> order(instance.job.size());
  std::iota(order.begin(), order.end(), 0);
  Assignment best = EarliestFinish(instance, order);
  ListSchedule schedule;
  value = schedule.Value(instance, best, target);
  const auto key = [&](int i) { return Fastest(instance, i) * instance.gang[U(i)] / instance.weight[U(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return target == Target::kMakespan ? Fastest(instance, a) > Fastest(instance, b) : key(a) < key(b);
  });
  Assignment other = EarliestFinish(instance, order);
  const double its = schedule.Value(instance, other, target);
  if (its < value) value = its, best = std::move(other);
  return best;
}

double QuickBound(const Instance& instance, Target target) {
  double gpus = 0.0, busy = 0.0;
  for (const auto& free_at : instance.free_at) {
    gpus += static_cast<double>(free_at.size());
    busy += std::accumulate(free_at.begin(), free_at.end(), 0.0);
  }
  struct Job {
    double area, weight, seconds;
  };
  std::vector<Job> jobs;
  double longest = instance.last_free(), alone = 0.0;
  for (int i = 0; i < instance.jobs(); ++i) {
    const double least = Fastest(instance, i);
    jobs.push_back({least * instance.gang[U(i)], instance.weight[U(i)], least});
    longest = std::max(longest, least);
    alone += instance.weight[U(i)] * least;
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.area * b.weight < b.area * a.weight; });
  double area = 0.0, sum = 0.0;
  for (const Job& job : jobs) {
    sum += job.weight * (area / gpus + (job.area / gpus + job.seconds) / 2.0);
    area += job.area;
  }
  return target == Target::kMakespan ? std::max(longest, (busy + area) / gpus) : std::max(alone, sum);
}

}  // namespace berth
