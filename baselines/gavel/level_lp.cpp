#include "baselines/gavel/level_lp.hpp"

#include <algorithm>

#include "baselines/gavel/share_system.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kTolerance = 1e-7;       // relative, as in lp_check.cpp
constexpr double kLevelAloneGap = 3e-10;  // of the level, where it alone counts

// The scale of the level, so that the program's numbers are near 1 whatever the unit of `worth`: no job's
// level can exceed its best type's worth.
double Unit(const Problem& problem, std::span<const double> worth) {
  double unit = kLpInfinity;
  for (int i = 0; i < problem.jobs(); ++i) {
    double best = 0.0;
    for (int j = 0; j < problem.types(); ++j) best = std::max(best, worth[problem.at(i, j)]);
    unit = std::min(unit, best);
  }
  BERTH_CHECK(unit > 0.0 && unit < kLpInfinity, "a job is worth nothing on every type");
  return unit;
}

}  // namespace

LpStatus LevelLp::SolveShares(const Problem& problem, std::span<const double> worth,
                              std::span<const double> least, Way way) {
  StateShares(problem, worth, least, way == Way::kReach ? 0.0 : 1.0, program_, classes_);
  LpStatus status;
  if (way == Way::kLevel) {
    memory_.Name(problem.key, classes_.of_job, classes_.size());
    status = SolveWideShares(program_, ShareAim::kLevel, shares_, time_limit_s_, kLevelAloneGap, &memory_);
  } else if (way == Way::kInside && program_.types() > ShareSystem::kMostTypes) {
    status = SolveWideShares(program_, ShareAim::kLevel, shares_, time_limit_s_);
  } else {
    status = SolveShareEmbedding(program_, shares_, time_limit_s_);
  }
  failure_ = Explain(status);
  if (status != LpStatus::kOptimal) return status;
  for (double& share : shares_.x) share = std::clamp(share, 0.0, 1.0);  // what is given is what is proven
  const ShareProof proof = Prove(program_, shares_);
  bound_ = proof.bound;
  const double gap = way == Way::kLevel ? 2.0 * kLevelAloneGap : kTolerance;
  const bool proven = proof.infeasibility <= kTolerance &&
                      (way == Way::kReach || proof.bound - proof.reached <= gap * proof.bound);
  if (proven) {
    if (way != Way::kReach) shares_.level = proof.reached;  // not what the solver says
    return status;
  }
  ++failed_proofs_;
  return LpStatus::kError;
}

void LevelLp::Take(const Problem& problem, LevelAnswer& answer) const {
  answer.level = shares_.level, answer.bound = bound_;
  SpreadShares(classes_, shares_, problem.types(), answer.x);
  answer.price.resize(problem.key.size());
  for (std::size_t i = 0; i < answer.price.size(); ++i)
    answer.price[i] = shares_.price[U(classes_.of_job[i])];
  answer.type_price = shares_.type_price;
}

bool LevelLp::Level(const Problem& problem, std::span<const double> worth, LevelAnswer& answer) {
  if (method() != LpMethod::kSimplex) {
    const LpStatus status = SolveShares(problem, worth, {}, Way::kLevel);
    if (status == LpStatus::kTimeLimit) return false;
    if (status == LpStatus::kOptimal) {
      Take(problem, answer);
      return true;
    }
  }
  return Maximize(problem, worth, LpMethod::kSimplex, answer);
}

bool LevelLp::Maximize(const Problem& problem, std::span<const double> worth, LpMethod method,
                       LevelAnswer& answer) {
  const int m = problem.jobs(), types = problem.types();
  // The embedding's point depends on the scale of rows and columns: there they stand as in the reference.
  const bool as_reference = method == LpMethod::kEmbedding;
  if (as_reference) {
    const LpStatus status = SolveShares(problem, worth, {}, Way::kInside);
    if (status == LpStatus::kTimeLimit) return false;
    if (status == LpStatus::kOptimal) {
      Take(problem, answer);
      return true;
    }
  }
  const double unit = as_reference ? 1.0 : Unit(problem, worth);
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model);
  const int level = model.AddColumn(1.0, as_reference ? -kLpInfinity : 0.0, kLpInfinity);
  AddBaseRows(problem, model);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)] / unit);
    }
    model.AddEntry(level, -1.0);
    model.EndRow(0.0, kLpInfinity);
  }
  if (lp_.Solve(method) != LpStatus::kOptimal) {
    failure_ = lp_.failure();
    return false;
  }
  answer.level = answer.bound = lp_.solution().x.back() * unit;
  TakeShares(problem, lp_.solution(), answer.x);
  answer.price.resize(U(m));
  for (int i = 0; i < m; ++i) {
    answer.price[U(i)] = std::max(0.0, -lp_.solution().row_dual[U(types + m + i)]);
  }
  answer.type_price.assign(lp_.solution().row_dual.begin(), lp_.solution().row_dual.begin() + types);
  for (double& price : answer.type_price) price = std::max(0.0, price * unit);
  return true;
}

bool LevelLp::Reach(const Problem& problem, std::span<const double> worth, std::span<const double> least,
                    Allocation& x) {
  const bool as_reference = lp_.method() != LpMethod::kSimplex;
  if (as_reference) {
    const LpStatus status = SolveShares(problem, worth, least, Way::kReach);
    if (status == LpStatus::kTimeLimit) return false;
    if (status == LpStatus::kOptimal) {
      SpreadShares(classes_, shares_, problem.types(), x);
      return true;
    }
  }
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model);
  AddBaseRows(problem, model);
  for (int i = 0; i < problem.jobs(); ++i) {
    const double scale = as_reference ? 1.0 : least[U(i)];
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)] / scale);
    }
    model.EndRow(least[U(i)] / scale, kLpInfinity);
  }
  if (lp_.Solve(as_reference ? LpMethod::kEmbedding : LpMethod::kSimplex) != LpStatus::kOptimal) {
    failure_ = lp_.failure();
    return false;
  }
  TakeShares(problem, lp_.solution(), x);
  return true;
}

}  // namespace berth::gavel
