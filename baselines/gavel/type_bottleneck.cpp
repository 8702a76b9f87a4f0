#include "baselines/gavel/type_bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr int kMostSteps = 100;
constexpr double kTight = 1e-12;  // all that is asked for, less what the programs are solved to
// What fixed jobs' rounding may cost those who stand: the first of these with which the program is feasible.
constexpr double kFixedSlacks[] = {1e-11, 1e-10, 1e-9, 1e-8};
constexpr std::size_t kWholeColumns = 6000;   // programs up to this size are solved at once
constexpr double kEqual = 1e-9;               // prices apart by less than this part of the highest are equal
constexpr std::size_t kTypesAskedAlone = 16;  // up to which each alone is asked whether it holds up somebody
constexpr double kTied = 1e-7;  // shares that cost no more than this part of it beyond the least are a choice
constexpr double kLoose = 5e-8;  // and what is taken where the digits of a program do not prove more
constexpr double kStuck = 1e-4;  // part of the time by which prices must lower it to be asked for again
constexpr double kNoise = 3e-2;  // of the mean price, which is 0 to the interior point
constexpr double kFirstInteriorGap = 1e-3, kLastInteriorGap = 1e-7;  // of the interior point
constexpr double kAllGap = 1e-6;      // below which its shares are a way of everybody
constexpr double kNearPrices = 5e-2;  // part of the time, within which prices of the interior point are near
// By how much of the time beyond what they prove the ways are asked, so that these have prices of their own.
constexpr double kBeyond = 1e-6;

}  // namespace

TypeBottleneck::TypeBottleneck(const Problem& problem, const std::vector<double>& members,
                               const std::vector<double>& worth, CheckedLp& lp, double time_limit_s,
                               std::vector<ShareMemory>* last)
    : problem_(problem),
      members_(members),
      lp_(lp),
      time_limit_s_(time_limit_s),
      shares_(problem, worth),
      ways_(problem, members, shares_, lp),
      held_(members.size(), 0),
      fixed_(members.size(), 0),
      left_(problem.workers.begin(), problem.workers.end()),
      price_(problem.workers.size(), 0.0),
      rough_(problem.workers.size(), 0.0),
      x_(worth.size(), 0.0),
      inside_(worth.size(), 0.0),
      last_(last) {}

// By how much the cheapest shares at the prices of the last question cost more than all GPUs, of which the
// latter.
double TypeBottleneck::Excess(const WaterPath& path, double time) {
  path.At(time, level_, rate_);
  double cost = 0.0, have = 0.0;
  for (int i = 0; i < problem_.jobs(); ++i) {
    if (fixed_[U(i)] != 0 || level_[U(i)] <= 0.0 || shares_.Free(i, guess_, 0.0) >= level_[U(i)]) continue;
    cost += members_[U(i)] * shares_.Cheapest(i, level_[U(i)], guess_).cost;
  }
  for (std::size_t j = 0; j < guess_.size(); ++j) have += guess_[j] * problem_.workers[j];
  for (std::size_t j = 0; j < guess_.size(); ++j) cost -= guess_[j] * left_[j];
  return cost - 1e-13 * have;
}

// The latest time up to time_ at which they do not.
double TypeBottleneck::Bound(const WaterPath& path) {
  double low = path.begin(), high = time_;
  double above = Excess(path, high);
  if (above <= 0.0) return high;
  double below = Excess(path, low);
  if (below >= 0.0) return low;
  int side = 0;
  for (int turn = 0; turn < 100 && high - low > 1e-15 * high; ++turn) {
    // Illinois' variant of the false position; halves where that is slow.
    double middle = turn % 4 == 3 ? 0.5 * (low + high) : (low * above - high * below) / (above - below);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    const double excess = Excess(path, middle);
    if (excess == 0.0) return middle;
    if (excess > 0.0) {
      high = middle, above = excess;
      if (side == 1) below *= 0.5;
      side = 1;
    } else {
      low = middle, below = excess;
      if (side == -1) above *= 0.5;
      side = -1;
    }
  }
  return high;
}

// By prices that need no program: what a GPU of each type is worth to all on average, and few types one by
// one. True where they hold up anybody before the path's end.
bool TypeBottleneck::Rough(const WaterPath& path) {
  const auto types = U(problem_.types());
  std::vector<double> value(types, 0.0);
  for (int i : asking_) {
    if (held_[U(i)] != 0) continue;
    const double fastest = shares_.Fastest(i);
    for (std::size_t j = 0; j < types; ++j) {
      if (shares_.allowed(i, static_cast<int>(j)))
        value[j] += members_[U(i)] * shares_.worth(i, static_cast<int>(j)) / fastest;
    }
  }
  bool have = false;
  for (std::size_t k = 0; k <= (types <= kTypesAskedAlone ? types : 0); ++k) {
    if (k > 0 && value[k - 1] == 0.0) continue;
    guess_ = value;
    for (std::size_t j = 0; k > 0 && j < types; ++j) guess_[j] = j + 1 == k ? 1.0 : 0.0;
    const double bound = Bound(path);
    have = have || bound < time_;
    time_ = bound;
  }
  return have;
}

// Prices by the interior point, and its shares; false where it has none.
bool TypeBottleneck::Guess(double gap) {
  // Who needs all of its time on one type has no choice, and asked for it here would hold up all the others
  // at what types would: a program with two bottlenecks at once, which the method ends slowly.
  std::vector<int> asking, on(level_.size(), -1);
  std::vector<double> left = left_;
  for (int i : asking_) {
    if (shares_.AtTop(i, level_[U(i)])) on[U(i)] = shares_.OnlyFastest(i);
    if (on[U(i)] >= 0) left[U(on[U(i)])] -= members_[U(i)] * problem_.gang[U(i)];
  }
  const bool fits = std::all_of(left.begin(), left.end(), [](double gpus) { return gpus >= 0.0; });
  if (!fits) left = left_;
  for (int i : asking_) {
    for (int j = 0; j < problem_.types(); ++j) inside_[problem_.at(i, j)] = j == on[U(i)] ? 1.0 : 0.0;
    if (!fits || on[U(i)] < 0) asking.push_back(i);
  }
  if (asking.empty()) return false;
  ShareProgram program;
  for (std::size_t j = 0; j < left.size(); ++j)
    program.workers.push_back(left[j] > 1e-9 * problem_.workers[j] ? left[j] : 0.0);
  program.worth.resize(asking.size() * left.size());
  for (int i : asking) {
    program.members.push_back(members_[U(i)]);
    program.gang.push_back(problem_.gang[U(i)]);
    program.rise.push_back(level_[U(i)]);
    program.least.push_back(0.0);
  }
  for (int j = 0; j < problem_.types(); ++j) {
    for (std::size_t k = 0; k < asking.size(); ++k)
      program.worth[program.at(j, static_cast<int>(k))] =
          shares_.allowed(asking[k], j) ? shares_.worth(asking[k], j) : 0.0;
  }
  ShareAnswer answer;
  ShareMemory* memory = nullptr;
  if (last_ != nullptr) {
    if (guesses_ == last_->size()) last_->emplace_back();
    memory = &(*last_)[guesses_++];
    std::vector<int> keys, itself(asking.size());
    for (int i : asking) keys.push_back(problem_.key[U(i)]);
    std::iota(itself.begin(), itself.end(), 0);
    memory->Name(keys, itself, static_cast<int>(itself.size()));
  }
  const LpStatus status = SolveWideShares(program, ShareAim::kLevel, answer, time_limit_s_, gap, memory);
  if (status != LpStatus::kOptimal) return false;
  guess_ = rough_ = answer.type_price;
  part_ = answer.level;
  double all = 0.0, gpus = 0.0;
  for (std::size_t j = 0; j < left.size(); ++j) all += guess_[j] * left[j], gpus += left[j];
  for (int j = 0; j < problem_.types(); ++j) {
    double used = 0.0;
    for (std::size_t k = 0; k < asking.size(); ++k) {
      const double share = answer.x[program.at(j, static_cast<int>(k))];
      inside_[problem_.at(asking[k], j)] = share;
      used += program.members[k] * program.gang[k] * share;
    }
    // Of a type's part of all prices and its part that is left one goes to 0.
    if (left[U(j)] <= 0.0 || guess_[U(j)] * gpus <= all * std::max(1.0 - used / left[U(j)], kNoise))
      guess_[U(j)] = 0.0;
  }
  return true;
}

// max c: the rising have c of their levels, the others theirs.
bool TypeBottleneck::SolveWhole(double slack) {
  const std::size_t types = left_.size();
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  const int part = model.AddColumn(1.0, 0.0, 1.0);
  std::vector<std::vector<std::pair<int, double>>> of_type(types);
  for (int i : asking_) {
    for (int j = 0; j < problem_.types(); ++j) {
      if (shares_.allowed(i, j))
        of_type[U(j)].emplace_back(model.AddColumn(0.0, 0.0, kLpInfinity),
                                   members_[U(i)] * problem_.gang[U(i)]);
    }
  }
  for (std::size_t j = 0; j < types; ++j) {
    const double gpus = std::max(1, problem_.workers[j]);
    for (const auto& [column, load] : of_type[j]) model.AddEntry(column, load / gpus);
    model.EndRow(-kLpInfinity, std::max(0.0, left_[j]) / gpus);
  }
  int column = part + 1;
  for (int i : asking_) {
    int its = column;
    for (int j = 0; j < problem_.types(); ++j) {
      if (shares_.allowed(i, j)) model.AddEntry(its++, 1.0);
    }
    model.EndRow(-kLpInfinity, 1.0);
    for (int j = 0; j < problem_.types(); ++j) {
      if (shares_.allowed(i, j)) model.AddEntry(column++, shares_.worth(i, j) / level_[U(i)]);
    }
    const bool held = held_[U(i)] != 0;
    if (!held) model.AddEntry(part, -1.0);
    model.EndRow(held ? 1.0 - slack : 0.0, kLpInfinity);
  }
  if (lp_.Solve(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
  const LpSolution& solution = lp_.solution();
  part_ = solution.x[0];
  for (std::size_t j = 0; j < types; ++j)
    guess_[j] = std::max(0.0, solution.row_dual[j]) / std::max(1, problem_.workers[j]);
  column = part + 1;
  for (int i : asking_) {
    for (int j = 0; j < problem_.types(); ++j)
      tried_[problem_.at(i, j)] = shares_.allowed(i, j) ? std::clamp(solution.x[U(column++)], 0.0, 1.0) : 0.0;
  }
  return true;
}

bool TypeBottleneck::Whole() {
  return std::any_of(std::begin(kFixedSlacks), std::end(kFixedSlacks),
                     [&](double slack) { return SolveWhole(slack); });
}

TypeBottleneck::Found TypeBottleneck::Next(const WaterPath& path) {
  time_ = path.end();
  bool have = false, vertex = false, near = false;
  double gap = kFirstInteriorGap;
  for (int step = 0; step < kMostSteps; ++step) {
    path.At(time_, level_, rate_);
    tried_ = x_;
    asking_.clear();
    std::size_t columns = 0;
    for (int i = 0; i < problem_.jobs(); ++i) {
      if (fixed_[U(i)] != 0 || level_[U(i)] <= 0.0) continue;
      asking_.push_back(i);
      for (int j = 0; j < problem_.types(); ++j) columns += shares_.allowed(i, j) ? 1 : 0;
    }
    part_ = 1.0;
    guess_.resize(left_.size());
    bool solved = asking_.empty();
    if (!solved && columns > kWholeColumns) {
      if (step == 0 && Rough(path)) {
        time_ = std::min(path.end(), time_ * (1.0 + kBeyond));
        have = true;
        continue;
      }
      if (!near && gap >= kLastInteriorGap && Guess(gap)) {
        const std::vector<double> few = guess_;
        double bound = Bound(path);
        guess_ = rough_;
        bound = std::min(bound, Bound(path));
        guess_ = few;
        near = part_ > 1.0 - kNearPrices || bound > time_ * (1.0 - kStuck);
        have = have || bound < time_;
        time_ = std::min(time_, bound * (1.0 + kBeyond));
        if (!near) continue;
        path.At(time_, level_, rate_);
      }
      const std::vector<double> close = guess_;
      if (vertex) rough_ = guess_;
      const LevelWays::Question question = {asking_, level_, held_,   left_,
                                            close,   rough_, inside_, gap < kAllGap};
      solved = near && ways_.Solve(question, 1.0 - kTight, guess_, part_, tried_);
    }
    if (!solved && near && gap > kLastInteriorGap) {  // prices too rough for few ways
      const double bound = Bound(path);
      have = have || bound < time_;
      time_ = std::min(time_, bound * (1.0 + kBeyond));
      gap *= 1e-2;
      near = vertex = false;
      continue;
    }
    if (!solved && !Whole()) return Found::kFailed;
    if (have && !vertex && part_ > 1.0 + kBeyond) {  // what rough prices proved was rounding
      time_ = path.end();
      have = false;
      near = true;
      continue;
    }
    double bound = part_ >= 1.0 - kTight ? time_ : Bound(path);
    if (part_ < 1.0 - kLoose && bound >= time_ && columns > kWholeColumns) {
      path.At(time_, level_, rate_);
      if (!Whole()) return Found::kFailed;
      bound = part_ >= 1.0 - kTight ? time_ : Bound(path);
    }
    if (bound < time_) {
      time_ = bound;
      price_ = guess_;
      have = vertex = true;
    } else {
      if (part_ < 1.0 - 1e-6) return Found::kFailed;
      if (!vertex) price_ = guess_;
      x_ = tried_;
      return have ? Found::kTypes : Found::kEnd;
    }
  }
  return Found::kFailed;
}

std::vector<double> TypeBottleneck::Settle(std::span<const double> level, std::vector<char>& saturated) {
  const double least = kEqual * HighestPrice(price_);
  std::vector<double> most(level.begin(), level.end());
  for (int i = 0; i < problem_.jobs(); ++i) {
    if (fixed_[U(i)] != 0) continue;
    const double free = shares_.Free(i, price_, least);
    if (saturated[U(i)] == 0 && level[U(i)] > 0.0 && level[U(i)] >= free * (1.0 - kEqual))
      saturated[U(i)] = 1;
    if (saturated[U(i)] == 0) {
      most[U(i)] = std::max(free, level[U(i)]);
      for (int j = 0; j < problem_.types(); ++j) {
        if (price_[U(j)] > least) shares_.Allow(i, j, false);
      }
      continue;
    }
    held_[U(i)] = 1;
    if (level[U(i)] <= 0.0) {
      fixed_[U(i)] = 1;
      continue;
    }
    const ShareChoice choice = shares_.Choose(i, level[U(i)], price_, kTied);
    for (int j = 0; j < problem_.types(); ++j) shares_.Allow(i, j, false);
    for (int j : choice.types) shares_.Allow(i, j, true);
    if (!choice.fixed) continue;
    // As the program found them, not as the prices would have them: what it proved fits whatever its digits.
    fixed_[U(i)] = 1;
    for (std::size_t j = 0; j < left_.size(); ++j)
      left_[j] -= members_[U(i)] * problem_.gang[U(i)] * x_[problem_.at(i, 0) + j];
  }
  return most;
}

}  // namespace berth::gavel
