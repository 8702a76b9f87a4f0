#include "baselines/gavel/combos.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

std::vector<Combo> Combos(const PackedProblem& problem, bool dominated_too) {
  const Problem& base = problem.base;
  std::vector<Combo> combos;
  for (int i = 0; i < base.jobs(); ++i) {
    for (int j = 0; j < base.types(); ++j) {
      const double rate = base.throughput[base.at(i, j)];
      if (rate > 0.0) combos.push_back({i, -1, j, rate, 0.0});
    }
  }
  for (int i = 0; i < base.jobs(); ++i) {
    for (int k = i + 1; base.gang[U(i)] == 1 && k < base.jobs(); ++k) {
      for (int j = 0; j < base.types(); ++j) {
        const double first = problem.Beside(i, k, j), second = problem.Beside(k, i, j);
        if (first <= 0.0 || second <= 0.0) continue;
        const double gain = first / base.throughput[base.at(i, j)] + second / base.throughput[base.at(k, j)];
        if (gain <= 1.0 && !dominated_too) continue;
        combos.push_back({i, k, j, first, second});
      }
    }
  }
  return combos;
}

}  // namespace

std::vector<Combo> UsefulCombos(const PackedProblem& problem) {
  return Combos(problem, false);
}
std::vector<Combo> AllCombos(const PackedProblem& problem) {
  return Combos(problem, true);
}

PackedAllocation ToAllocation(const PackedProblem& problem, std::span<const Combo> combos,
                              std::span<const double> share) {
  const Problem& base = problem.base;
  PackedAllocation x;
  x.alone.assign(base.throughput.size(), 0.0);
  for (std::size_t c = 0; c < combos.size(); ++c) {
    const double part = std::clamp(share[c], 0.0, 1.0);
    if (combos[c].second < 0) {
      x.alone[base.at(combos[c].first, combos[c].type)] = part;
      continue;
    }
    if (part <= 0.0) continue;
    const std::array<int, 2> pair = {combos[c].first, combos[c].second};
    if (x.pairs.empty() || x.pairs.back() != pair) {
      x.pairs.push_back(pair);
      x.together.resize(x.pairs.size() * base.workers.size(), 0.0);
    }
    x.together[base.at(static_cast<int>(x.pairs.size()) - 1, combos[c].type)] = part;
  }
  return x;
}

std::vector<double> EffectiveThroughput(const PackedProblem& problem, const PackedAllocation& x) {
  std::vector<double> speed = EffectiveThroughput(problem.base, x.alone);
  for (std::size_t p = 0; p < x.pairs.size(); ++p) {
    const auto [a, b] = x.pairs[p];
    for (int j = 0; j < problem.base.types(); ++j) {
      const double part = x.together[problem.base.at(static_cast<int>(p), j)];
      speed[U(a)] += problem.Beside(a, b, j) * part;
      speed[U(b)] += problem.Beside(b, a, j) * part;
    }
  }
  return speed;
}

double Violation(const PackedProblem& problem, const PackedAllocation& x) {
  const Problem& base = problem.base;
  std::vector<double> time(U(base.jobs()), 0.0), used(U(base.types()), 0.0);
  double worst = 0.0;
  const auto add = [&](double part, int type, int gang, std::initializer_list<int> jobs) {
    worst = std::max(worst, -part);
    used[U(type)] += gang * part;
    for (int job : jobs) time[U(job)] += part;
  };
  for (int j = 0; j < base.types(); ++j) {
    for (int i = 0; i < base.jobs(); ++i) add(x.alone[base.at(i, j)], j, base.gang[U(i)], {i});
    for (std::size_t p = 0; p < x.pairs.size(); ++p) {
      add(x.together[base.at(static_cast<int>(p), j)], j, 1, {x.pairs[p][0], x.pairs[p][1]});
    }
    worst = std::max(worst, used[U(j)] - base.workers[U(j)]);
  }
  for (double sum : time) worst = std::max(worst, sum - 1.0);
  return worst;
}

}  // namespace berth::gavel
