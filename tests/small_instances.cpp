#include "tests/small_instances.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/rng.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth::test {

Scenario DrawScenario(std::uint64_t seed, int jobs, const std::vector<int>& counts, const Drawn& drawn) {
  Stream stream(seed, Purpose::kTest);
  std::vector<std::pair<std::string, int>> types;
  for (int count : counts) types.push_back({std::string(1, static_cast<char>('a' + types.size())), count});
  std::vector<std::vector<double>> rates;
  std::vector<TinyJob> list;
  std::vector<double> weight;
  for (int i = 0; i < jobs; ++i) {
    rates.emplace_back();
    for (std::size_t type = 0; type < counts.size(); ++type) rates.back().push_back(stream.Uniform(0.5, 4.0));
    list.push_back({0.0, stream.Uniform(5.0, 60.0), i, drawn.gangs ? 1 << stream.Below(2) : 1});
    weight.push_back(drawn.weights ? stream.Uniform(0.5, 3.0) : 1.0);
  }
  ScenarioData data = TinyData(types, rates, list);
  data.jobs.weight = weight;
  data.seed = seed;
  return Scenario(std::move(data));
}

Instance InstanceOf(const Scenario& scenario) {
  Simulator simulator(scenario);
  REQUIRE(simulator.AdvanceToDecision());
  Instance instance;
  Describe(simulator.View(Knowledge::kOracle), instance);
  return instance;
}

Instance BusyInstanceOf(const Scenario& scenario) {
  Stream stream(scenario.data().seed, Purpose::kTest, Split::kTrain, 1);
  Instance instance = InstanceOf(scenario);
  for (auto& free_at : instance.free_at) {
    for (double& at : free_at) at = stream.Uniform(0.0, 80.0);
    std::sort(free_at.begin(), free_at.end());
  }
  return instance;
}

double Optimum(const Instance& instance, Target target) {
  struct Gpu {
    int type;
    double free_at;
  };
  std::vector<Gpu> gpus;
  double busy_until = 0.0;
  for (int type = 0; type < instance.types(); ++type) {
    for (double at : instance.free_at[static_cast<std::size_t>(type)]) {
      gpus.push_back({type, at});
      busy_until = std::max(busy_until, at);
    }
  }
  const std::size_t n = instance.job.size();
  std::vector<std::size_t> on(n, 0);
  double best = kNever;
  for (;;) {
    double value = target == Target::kMakespan ? busy_until : 0.0;
    for (std::size_t m = 0; m < gpus.size(); ++m) {
      std::vector<std::size_t> own;
      for (std::size_t i = 0; i < n; ++i) {
        if (on[i] == m) own.push_back(i);
      }
      if (own.empty()) continue;
      double least = kNever;
      do {
        double now = gpus[m].free_at, sum = 0.0;
        for (std::size_t i : own) {
          now += instance.at(static_cast<int>(i), gpus[m].type);
          sum += instance.weight[i] * now;
        }
        least = std::min(least, target == Target::kMakespan ? now : sum);
      } while (target != Target::kMakespan && std::next_permutation(own.begin(), own.end()));
      value = target == Target::kMakespan ? std::max(value, least) : value + least;
    }
    best = std::min(best, value);
    std::size_t k = 0;
    while (k < n && ++on[k] == gpus.size()) on[k++] = 0;
    if (k == n) return best;
  }
}

double BestList(const Instance& instance, Target target) {
  Assignment plan{std::vector<int>(instance.job.size()), std::vector<int>(instance.job.size(), 0)};
  std::iota(plan.order.begin(), plan.order.end(), 0);
  ListSchedule schedule;
  double best = kNever;
  do {
    std::fill(plan.type.begin(), plan.type.end(), 0);
    for (;;) {
      bool can = true;
      for (int i = 0; i < instance.jobs(); ++i) {
        can = can && instance.at(i, plan.type[static_cast<std::size_t>(i)]) < kNever;
      }
      if (can) best = std::min(best, schedule.Value(instance, plan, target));
      std::size_t k = 0;
      while (k < plan.type.size() && ++plan.type[k] == instance.types()) plan.type[k++] = 0;
      if (k == plan.type.size()) break;
    }
  } while (std::next_permutation(plan.order.begin(), plan.order.end()));
  return best;
}

double Achieved(const std::string& spec, const Scenario& scenario, Target target) {
  const std::vector<double> ends = Ends(spec, scenario);
  double sum = 0.0;
  for (std::size_t i = 0; i < ends.size(); ++i) sum += scenario.data().jobs.weight[i] * ends[i];
  return target == Target::kMakespan ? *std::max_element(ends.begin(), ends.end()) : sum;
}

std::string Objective(Target target) {
  return target == Target::kMakespan ? "makespan" : "completion";
}

}  // namespace berth::test
