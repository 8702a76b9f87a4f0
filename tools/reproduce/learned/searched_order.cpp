#include "tools/reproduce/learned/searched_order.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

Scenario InOrder(const Scenario& sequence, const std::vector<int>& order) {
  ScenarioData data = sequence.data();
  data.jobs.weight.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    data.jobs.weight[U(order[place])] = static_cast<double>(order.size() - place);
  return Scenario(std::move(data));
}

struct Played {
  double slowdown = 0.0;
  std::vector<double> start_s, slowdowns;  // [jobs]
};

Played PlayedBy(const Scenario& scenario, const std::string& spec) {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
  const Simulator simulator = FinishedRun(scenario, *scheduler, {0, scenario.num_jobs()});
  Played run{
      Measure(simulator, {0, scenario.num_jobs()}).hpc_bounded_slowdown, simulator.state().first_start, {}};
  const std::vector<double>& arrival = scenario.data().jobs.arrival;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const double alone = scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job);
    run.slowdowns.push_back(1.0 + (run.start_s[U(job)] - arrival[U(job)]) / std::max(alone, 10.0));
  }
  return run;
}

}  // namespace

Scenario SearchedOrder(const Scenario& sequence, std::span<const std::string> rules, const std::string& spec,
                       int trials, std::uint64_t seed) {
  std::vector<int> order;
  Played best;
  for (const std::string& rule : rules) {
    std::vector<int> by_rule(U(sequence.num_jobs()));
    std::iota(by_rule.begin(), by_rule.end(), 0);
    const std::vector<double> start_s = PlayedBy(sequence, rule).start_s;
    std::stable_sort(by_rule.begin(), by_rule.end(),
                     [&](int a, int b) { return start_s[U(a)] < start_s[U(b)]; });
    Played played = PlayedBy(InOrder(sequence, by_rule), spec);
    if (order.empty() || played.slowdown < best.slowdown)
      best = std::move(played), order = std::move(by_rule);
  }
  Stream stream(seed, Purpose::kScheduler, Split::kEvaluate);
  const auto count = static_cast<std::uint32_t>(order.size());
  for (int trial = 1; trial < trials; ++trial) {
    std::vector<int> tried = order;
    std::uint32_t from = stream.Below(count);
    if (trial % 2 == 0) {  // of a few the one that waits longest for its size
      for (int other = 0; other < 8; ++other) {
        const std::uint32_t may = stream.Below(count);
        if (best.slowdowns[U(order[may])] > best.slowdowns[U(order[from])]) from = may;
      }
    }
    const std::uint32_t to = stream.Below(count);
    const auto begin = tried.begin();
    if (from < to) {
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    } else {
      std::rotate(begin + to, begin + from, begin + from + 1);
    }
    Played run = PlayedBy(InOrder(sequence, tried), spec);
    if (run.slowdown <= best.slowdown) best = std::move(run), order = std::move(tried);
  }
  return InOrder(sequence, order);
}

}  // namespace berth
