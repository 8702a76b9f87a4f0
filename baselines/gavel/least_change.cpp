#include "baselines/gavel/least_change.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kGive = 2e-8;     // of what is promised, so that rounding leaves room for an answer
constexpr double kLater = 1e-5;    // more that a change weighs at the last share than at the first
constexpr double kNothing = 1e-7;  // a change of a share below is none

}  // namespace

// Whether a share of the solver's is so small that all such of its job, or of all jobs, fit into kGive.
bool LeastChange::Unused(const Problem& problem, const Promise& promise, int job, int type, double share) {
  const std::size_t k = problem.at(job, type);
  const double give = 0.5 * kGive / problem.types();
  if (!promise.least.empty() && promise.worth[k] * share > give * promise.least[U(job)]) return false;
  return promise.value.empty() || promise.value[k] * share <= give * promise.sum / problem.jobs();
}

// A share is what it must be, what it has beyond up to `last`, which saves a change, and what it has beyond
// that, which is one. Who has one type to choose must have all of its promise there, and wants no more than
// it had: no row of its own is needed, and of thousands of unlike jobs most are so.
void LeastChange::State(const Problem& problem, const Promise& promise, const Allocation& last,
                        const Allocation& x) {
  const int types = problem.types();
  LpModel& model = lp_.model();
  model.Clear();
  parts_.assign(x.size(), {});
  rows_.clear();
  for (int i = 0; i < problem.jobs(); ++i) {
    int choices = 0, only = 0;
    for (int j = 0; j < types; ++j) {
      const std::size_t k = problem.at(i, j);
      const bool few = x.size() > kMostShares && last[k] <= kNothing && Unused(problem, promise, i, j, x[k]);
      if (problem.throughput[k] <= 0.0 || few) continue;
      parts_[k].column = 0;
      ++choices, only = j;
    }
    const std::size_t its = problem.at(i, only);
    if (choices == 1 && !promise.least.empty() && promise.value.empty()) {
      Part& part = parts_[its];
      part.least = std::min(1.0, (1.0 - kGive) * promise.least[U(i)] / promise.worth[its]);
      const double more = last[its] - part.least;
      part.column = more > kNothing ? model.AddColumn(-problem.gang[U(i)], 0.0, more) : -1;
      continue;
    }
    if (choices > 1 || !promise.least.empty()) rows_.push_back(i);
    for (int j = 0; j < types; ++j) {
      const std::size_t k = problem.at(i, j);
      if (parts_[k].column < 0) continue;
      const double later = kLater * static_cast<double>(k) / static_cast<double>(x.size());
      const double weight = problem.gang[U(i)] * (1.0 + later);
      parts_[k].column = model.AddColumn(-weight, 0.0, last[k]);
      parts_[k].beyond = model.AddColumn(weight, 0.0, 1.0 - last[k]);
    }
  }
  const auto add = [&](std::size_t k, double coefficient) {
    if (parts_[k].column >= 0) model.AddEntry(parts_[k].column, coefficient);
    if (parts_[k].beyond >= 0) model.AddEntry(parts_[k].beyond, coefficient);
  };
  for (int j = 0; j < types; ++j) {
    double free = problem.workers[U(j)];
    for (int i = 0; i < problem.jobs(); ++i) {
      add(problem.at(i, j), problem.gang[U(i)]);
      free -= problem.gang[U(i)] * parts_[problem.at(i, j)].least;
    }
    model.EndRow(-kLpInfinity, free);
  }
  for (const int i : rows_) {
    for (int j = 0; j < types; ++j) add(problem.at(i, j), 1.0);
    model.EndRow(-kLpInfinity, 1.0);
    if (promise.least.empty() || promise.least[U(i)] <= 0.0) continue;
    for (int j = 0; j < types; ++j)
      add(problem.at(i, j), promise.worth[problem.at(i, j)] / promise.least[U(i)]);
    model.EndRow(1.0 - kGive, kLpInfinity);
  }
  if (promise.value.empty()) return;
  for (std::size_t k = 0; k < x.size(); ++k) add(k, promise.value[k] / promise.sum);
  model.EndRow(1.0 - kGive, kLpInfinity);
}

void LeastChange::Settle(const Problem& problem, const Promise& promise, const Allocation& last,
                         Allocation& x) {
  if (last == x) return;
  State(problem, promise, last, x);
  if (lp_.SolveOnly(LpMethod::kSimplex) != LpStatus::kOptimal) return;
  const std::vector<double>& solved = lp_.solution().x;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Part& part = parts_[k];
    x[k] = part.least;
    if (part.column >= 0) x[k] += solved[U(part.column)];
    if (part.beyond >= 0) x[k] += solved[U(part.beyond)];
    x[k] = std::clamp(x[k], 0.0, 1.0);
  }
}

}  // namespace berth::gavel
