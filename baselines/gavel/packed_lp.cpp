#include "baselines/gavel/packed_lp.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
void PackedLp::Begin(const PackedProblem& problem, std::span<const Combo> combos,
                     std::span<const double> value) {
  const Problem& base = problem.base;
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  of_job_.resize(U(base.jobs()));
  for (auto& own : of_job_) own.clear();
  std::vector<std::vector<int>> of_type(U(base.types()));
  for (std::size_t c = 0; c < combos.size(); ++c) {
    const int column = model.AddColumn(value.empty() ? 0.0 : value[c], 0.0, kLpInfinity);
    of_type[U(combos[c].type)].push_back(column);
    of_job_[U(combos[c].first)].push_back(column);
    if (combos[c].second >= 0) of_job_[U(combos[c].second)].push_back(column);
  }
  for (int j = 0; j < base.types(); ++j) {
    for (int c : of_type[U(j)]) model.AddEntry(c, base.gang[U(combos[U(c)].first)]);
    model.EndRow(-kLpInfinity, base.workers[U(j)]);
  }
  for (int i = 0; i < base.jobs(); ++i) {
    for (int c : of_job_[U(i)]) model.AddEntry(c, 1.0);
    model.EndRow(-kLpInfinity, 1.0);
  }
}

void PackedLp::AddSpeed(int job, std::span<const Combo> combos, double scale) {
  for (int c : of_job_[U(job)]) {
    const Combo& combo = combos[U(c)];
    lp_.model().AddEntry(c, (combo.first == job ? combo.rate_first : combo.rate_second) * scale);
  }
}

bool PackedLp::Maximize(const PackedProblem& problem, std::span<const double> scale, KindsAnswer& answer) {
  const LpStatus status = MaxMinByKinds(problem, scale, time_limit_s_, answer);
  by_kinds_ = status == LpStatus::kOptimal ? nullptr : Explain(status);
  return status == LpStatus::kOptimal;
}

LpStatus PackedLp::MaximizeRise(const PackedProblem& problem, std::span<const Combo> combos,
                                std::span<const SpeedRow> rows, std::span<const double> top, LpMethod method,
                                PackedRise& answer) {
  const Problem& base = problem.base;
  Begin(problem, combos, {});
  LpModel& model = lp_.model();
  const int first = model.columns();
  for (double its_top : top) model.AddColumn(1.0, 0.0, its_top);
  for (int i = 0; i < base.jobs(); ++i) {
    AddSpeed(i, combos, rows[U(i)].scale);
    if (rows[U(i)].rise >= 0) model.AddEntry(first + rows[U(i)].rise, -1.0);
    model.EndRow(rows[U(i)].least, kLpInfinity);
  }
  const LpStatus status = lp_.Solve(method);
  if (status != LpStatus::kOptimal) return status;
  const LpSolution& solution = lp_.solution();
  answer.x = ToAllocation(problem, combos, solution.x);
  answer.rise.assign(solution.x.begin() + first, solution.x.end());
  answer.price.resize(U(base.jobs()));
  for (int i = 0; i < base.jobs(); ++i) {
    answer.price[U(i)] = std::max(0.0, -solution.row_dual[U(base.types() + base.jobs() + i)]);
  }
  return status;
}

bool PackedLp::Reach(const PackedProblem& problem, std::span<const Combo> combos,
                     std::span<const double> least, PackedAllocation& x) {
  Begin(problem, combos, {});
  for (int i = 0; i < problem.base.jobs(); ++i) {
    AddSpeed(i, combos, 1.0 / least[U(i)]);
    lp_.model().EndRow(1.0, kLpInfinity);
  }
  // HiGHS' interior point is not centred where there is no objective; the embedding's is, as in level_lp.cpp.
  const bool vertex = lp_.method() == LpMethod::kSimplex;
  if (lp_.Solve(vertex ? LpMethod::kSimplex : LpMethod::kEmbedding) != LpStatus::kOptimal) return false;
  x = ToAllocation(problem, combos, lp_.solution().x);
  return true;
}

LpStatus PackedLp::MaximizeSum(const PackedProblem& problem, std::span<const Combo> combos,
                               std::span<const double> value, std::span<const double> least,
                               PackedAllocation& x) {
  Begin(problem, combos, value);
  for (int i = 0; i < static_cast<int>(least.size()); ++i) {
    if (least[U(i)] <= 0.0) continue;
    AddSpeed(i, combos, 1.0 / least[U(i)]);
    lp_.model().EndRow(1.0, kLpInfinity);
  }
  const LpStatus status = lp_.Solve();
  if (status == LpStatus::kOptimal) x = ToAllocation(problem, combos, lp_.solution().x);
  return status;
}

}  // namespace berth::gavel
