#include "baselines/adaptive/pollux_bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "env/base/check.hpp"

namespace berth::pollux {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<RelaxedOption> OptionsOf(const Objective& objective, int job, const std::vector<int>& most_on) {
  const Job& j = objective.problem().jobs[U(job)];
  std::vector<RelaxedOption> all = {{{0, 0, false}, 0, objective.MovedCost(job, 0, 0)}};
  const Extent present = ExtentOf(objective.problem().present.row(job));
  if (present.replicas <= j.max_replicas && (present.replicas == 0 || present.replicas >= j.min_replicas))
    all.push_back({{present.nodes, present.replicas, true},
                   present.nodes > 1 ? present.nodes : 0,
                   objective.KeptCost(job)});
  for (int r = std::max(j.min_replicas, 1); r <= j.max_replicas; ++r) {
    for (int k = 1; k < static_cast<int>(most_on.size()) && k <= r; ++k) {
      if (r > most_on[U(k)]) continue;
      all.push_back({{k, r, false}, k > 1 ? k : 0, objective.MovedCost(job, k, r)});
      if (k > 1 && k >= j.node_rows) break;  // more nodes are no better
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const RelaxedOption& a, const RelaxedOption& b) {
    return a.choice.replicas != b.choice.replicas ? a.choice.replicas < b.choice.replicas : a.cost < b.cost;
  });
  std::vector<RelaxedOption> kept;
  for (const RelaxedOption& a : all) {
    const bool idle = std::any_of(kept.begin(), kept.end(), [&](const RelaxedOption& b) {
      return b.cost <= a.cost && b.spanned <= a.spanned;
    });
    if (!idle) kept.push_back(a);
  }
  return kept;
}

// GPUs of so many nodes, at most. [nodes + 1]
std::vector<int> MostOn(const Objective& objective) {
  std::vector<int> gpus = objective.problem().node_gpus;
  std::sort(gpus.begin(), gpus.end(), std::greater<>());
  std::vector<int> most_on(gpus.size() + 1);
  std::partial_sum(gpus.begin(), gpus.end(), most_on.begin() + 1);
  return most_on;
}

}  // namespace

std::vector<std::vector<RelaxedOption>> RelaxedOptions(const Objective& objective) {
  const std::vector<int> most_on = MostOn(objective);
  std::vector<std::vector<RelaxedOption>> options;
  for (int j = 0; j < objective.jobs(); ++j) options.push_back(OptionsOf(objective, j, most_on));
  return options;
}

Relaxed SolveRelaxed(const Objective& objective, const std::vector<std::vector<RelaxedOption>>& options) {
  BERTH_CHECK(objective.jobs() >= 1 && options.size() == U(objective.jobs()), objective.jobs());
  const int total = MostOn(objective).back(), nodes = objective.nodes(), width = nodes + 1;
  const std::size_t states = U((total + 1) * width);

  // best[g, m]: least cost of the jobs so far with at most g GPUs and m nodes in jobs that span them
  std::vector<double> best(states, 0.0), next(states);
  std::vector<std::vector<std::uint16_t>> chosen;
  for (int j = 0; j < objective.jobs(); ++j) {
    chosen.emplace_back(states);
    std::fill(next.begin(), next.end(), kInfinity);
    for (std::size_t o = 0; o < options[U(j)].size(); ++o) {
      const RelaxedOption& option = options[U(j)][o];
      const int back = option.choice.replicas * width + option.spanned;
      for (int g = option.choice.replicas; g <= total; ++g) {
        for (int m = option.spanned; m <= nodes; ++m) {
          const std::size_t at = U(g * width + m);
          const double cost = best[at - U(back)] + option.cost;
          if (cost < next[at]) next[at] = cost, chosen.back()[at] = static_cast<std::uint16_t>(o);
        }
      }
    }
    best.swap(next);
  }
  Relaxed relaxed;
  std::size_t at = states - 1;
  relaxed.cost = best[at];
  relaxed.choices.resize(U(objective.jobs()));
  for (int j = objective.jobs() - 1; j >= 0; --j) {
    const RelaxedOption& option = options[U(j)][chosen[U(j)][at]];
    relaxed.choices[U(j)] = option.choice;
    at -= U(option.choice.replicas * width + option.spanned);
  }
  return relaxed;
}

}  // namespace berth::pollux
