#include "tools/reproduce/learned/searched_order.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

Scenario InOrder(const Scenario& sequence, const JobOrder& order) {
  ScenarioData data = sequence.data();
  data.jobs.weight.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    data.jobs.weight[U(order[place])] = static_cast<double>(order.size() - place);
  return Scenario(std::move(data));
}

struct Played {
  double cost = 0.0;
  std::vector<double> arrival_s, end_s, costs;  // [jobs]; who is not done ends never
};

double Alone(const Scenario& scenario, int job) {
  return scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job);
}

Played Play(const Scenario& scenario, const OrderSearch& search) {
  const bool slowdown = search.cost == OrderSearch::Cost::kBoundedSlowdown;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(search.spec, AllSchedulers());
  const Simulator simulator = FinishedRun(scenario, *scheduler, search.window);
  const Metrics metrics = Measure(simulator, search.window);
  Played run{slowdown ? metrics.hpc_bounded_slowdown : metrics.mean_jct_s,
             scenario.data().jobs.arrival,
             simulator.state().completion,
             {}};
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const double alone = Alone(scenario, job), more = run.end_s[U(job)] - run.arrival_s[U(job)] - alone;
    run.costs.push_back(slowdown ? more / std::max(alone, 10.0) : more);
  }
  return run;
}

bool Meet(const Played& run, int a, int b) {
  return run.arrival_s[U(a)] < run.end_s[U(b)] && run.arrival_s[U(b)] < run.end_s[U(a)];
}

JobOrder Sorted(const std::vector<double>& by) {
  JobOrder order(by.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return by[U(a)] < by[U(b)]; });
  return order;
}

}  // namespace

JobOrder StartOrder(const Scenario& sequence, const std::string& rule) {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(rule, AllSchedulers());
  return Sorted(FinishedRun(sequence, *scheduler, {0, sequence.num_jobs()}).state().first_start);
}

JobOrder SmallestFirst(const Scenario& sequence) {
  std::vector<double> size;
  for (int job = 0; job < sequence.num_jobs(); ++job)
    size.push_back(sequence.data().jobs.gang[U(job)] * Alone(sequence, job));
  return Sorted(size);
}

Scenario SearchedOrder(const Scenario& sequence, std::span<const JobOrder> beginnings,
                       const OrderSearch& search) {
  JobOrder order;
  Played best;
  for (const JobOrder& beginning : beginnings) {
    Played run = Play(InOrder(sequence, beginning), search);
    if (order.empty() || run.cost < best.cost) best = std::move(run), order = beginning;
  }
  constexpr int kLooks = 8;
  Stream stream(search.seed, Purpose::kScheduler, Split::kEvaluate);
  const auto count = static_cast<std::uint32_t>(order.size());
  for (int trial = 0; trial < search.trials; ++trial) {
    std::uint32_t from = stream.Below(count);
    if (trial % 2 == 0) {  // of a few the one that waits longest
      for (int look = 0; look < kLooks; ++look) {
        const std::uint32_t may = stream.Below(count);
        if (best.costs[U(order[may])] > best.costs[U(order[from])]) from = may;
      }
    }
    std::uint32_t to = stream.Below(count);
    for (int look = 0; look < kLooks && !Meet(best, order[from], order[to]); ++look) to = stream.Below(count);
    JobOrder tried = order;
    const auto begin = tried.begin();
    if (from < to) {
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    } else {
      std::rotate(begin + to, begin + from, begin + from + 1);
    }
    Played run = Play(InOrder(sequence, tried), search);
    if (run.cost <= best.cost) best = std::move(run), order = std::move(tried);
  }
  return InOrder(sequence, order);
}

}  // namespace berth
