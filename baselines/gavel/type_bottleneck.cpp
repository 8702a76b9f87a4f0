#include "baselines/gavel/type_bottleneck.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/gavel/wide_shares.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr int kMostSteps = 100;
// All that is asked for, less what the programs are solved to; the interior point's is wider.
constexpr double kTight = 1e-9, kInteriorTight = 2e-7;
constexpr double kInteriorGaps[] = {1e-8, 1e-7};  // the second where the digits do not reach the first
// What fixed jobs' rounding may cost those who stand: the first of these with which the program is feasible.
constexpr double kSlacks[] = {1e-11, 1e-10, 1e-9, 1e-8};
constexpr std::size_t kWholeColumns = 6000;  // programs up to this size are solved at once
// Prices apart by less than these parts of the highest are equal: of the interior point, and of a vertex.
constexpr double kNearly = 1e-6, kEqual = 1e-9;
constexpr double kInteriorNoise = 1e-8;
constexpr double kNear = 1e-3;  // part of the time
constexpr double kTop = 1e-10;  // of its level, below which a job has no choice but its fastest types

}  // namespace

TypeBottleneck::TypeBottleneck(const Problem& problem, const std::vector<double>& members,
                               const std::vector<double>& worth, CheckedLp& lp, double time_limit_s)
    : problem_(problem),
      members_(members),
      worth_(worth),
      lp_(lp),
      time_limit_s_(time_limit_s),
      held_(members.size(), 0),
      fixed_(members.size(), 0),
      left_(problem.workers.begin(), problem.workers.end()),
      price_(problem.workers.size(), 0.0),
      x_(worth.size(), 0.0) {
  for (std::size_t k = 0; k < worth.size(); ++k)
    allowed_.push_back(worth[k] > 0.0 && problem.workers[k % problem.workers.size()] > 0 ? 1 : 0);
}

double TypeBottleneck::Highest(std::span<const double> price) const {
  return *std::max_element(price.begin(), price.end());
}

double TypeBottleneck::Fastest(int job) const {
  double fastest = 0.0;
  for (int j = 0; j < problem_.types(); ++j) {
    if (allowed_[problem_.at(job, j)] != 0) fastest = std::max(fastest, worth_[problem_.at(job, j)]);
  }
  return fastest;
}

// The edge of the lower hull of idling (0, 0) and all types (worth, gang price) that spans the level.
TypeBottleneck::Mix TypeBottleneck::Cheapest(int job, double level, std::span<const double> price) const {
  const std::size_t row = problem_.at(job, 0);
  const double gang = problem_.gang[U(job)];
  const int types = problem_.types();
  Mix mix;
  int fastest = -1;
  for (int j = 0; j < types; ++j) {
    const double worth = worth_[row + U(j)];
    if (allowed_[row + U(j)] == 0) continue;
    const auto cheaper = [&](int k) {
      const double a = price[U(j)] * worth_[row + U(k)], b = price[U(k)] * worth;
      return a != b ? a < b : worth > worth_[row + U(k)];
    };
    if (worth >= level && (mix.high < 0 || cheaper(mix.high))) mix.high = j;
    if (fastest < 0 || worth > worth_[row + U(fastest)]) fastest = j;
  }
  if (fastest < 0) return mix;
  if (mix.high < 0) {  // by rounding
    mix.high = fastest;
    level = worth_[row + U(fastest)];
  }
  for (int turn = 0; turn < 4 * types; ++turn) {
    const double low = mix.low < 0 ? 0.0 : worth_[row + U(mix.low)];
    const double of_low = mix.low < 0 ? 0.0 : gang * price[U(mix.low)];
    const double high = worth_[row + U(mix.high)];
    mix.slope = (gang * price[U(mix.high)] - of_low) / (high - low);
    mix.of_time = mix.slope * low - of_low;
    mix.of_high = (level - low) / (high - low);
    int below = -1;
    double most = 1e-14 * gang * (price[U(mix.high)] + of_low / gang);
    for (int j = 0; j < types; ++j) {
      if (allowed_[row + U(j)] == 0 || j == mix.low || j == mix.high) continue;
      const double gain = mix.slope * worth_[row + U(j)] - mix.of_time - gang * price[U(j)];
      if (gain > most) most = gain, below = j;
    }
    if (below < 0) {
      if (mix.of_time >= -1e-14 * gang * price[U(mix.high)]) break;
      below = -2;  // idling is below the line
    }
    if (below == -2) {
      mix.low = -1;
    } else if (worth_[row + U(below)] >= level) {
      mix.high = below;
    } else {
      mix.low = below;
    }
  }
  mix.of_low = mix.low < 0 ? 0.0 : 1.0 - mix.of_high;
  mix.cost = mix.slope * level - mix.of_time;
  return mix;
}

// The types on which shares cost no more than the cheapest by `apart` of the highest price.
TypeBottleneck::Entry TypeBottleneck::Choose(int job, double level, std::span<const double> price,
                                             double apart) const {
  Entry entry;
  entry.job = job;
  entry.mix = Cheapest(job, level, price);
  const double gang = problem_.gang[U(job)], within = apart * gang * Highest(price);
  const bool top = level >= Fastest(job) * (1.0 - kTop);
  double cheapest = kLpInfinity;
  for (int j = 0; top && j < problem_.types(); ++j) {
    const std::size_t k = problem_.at(job, j);
    if (allowed_[k] != 0 && worth_[k] >= level * (1.0 - kTop)) cheapest = std::min(cheapest, price[U(j)]);
  }
  for (int j = 0; j < problem_.types(); ++j) {
    const std::size_t k = problem_.at(job, j);
    if (allowed_[k] == 0) continue;
    const double beyond = gang * price[U(j)] + entry.mix.of_time - entry.mix.slope * worth_[k];
    const bool near = top ? worth_[k] >= level * (1.0 - kTop) && gang * (price[U(j)] - cheapest) <= within
                          : j == entry.mix.low || j == entry.mix.high || beyond <= within;
    if (near) entry.types.push_back(j);
  }
  if (entry.types.size() == 1) {
    entry.fixed = true;
    entry.mix.low = -1;
    entry.mix.high = entry.types.front();
    entry.mix.of_low = 0.0;
    entry.mix.of_high = std::min(1.0, level / worth_[problem_.at(job, entry.mix.high)]);
  } else {
    entry.fixed = !top && entry.types.size() == 2 && entry.mix.low >= 0 && entry.mix.of_time > within;
  }
  return entry;
}

// By how much the cheapest shares at the prices of the last question cost more than all GPUs, of which the
// latter.
double TypeBottleneck::Excess(const WaterPath& path, double time) {
  path.At(time, level_, rate_);
  double cost = 0.0, have = 0.0;
  for (int i = 0; i < problem_.jobs(); ++i) {
    if (fixed_[U(i)] != 0 || level_[U(i)] <= 0.0) continue;
    double free = 0.0;  // on types without a price
    for (int j = 0; j < problem_.types(); ++j) {
      const std::size_t k = problem_.at(i, j);
      if (guess_[U(j)] <= 0.0 && allowed_[k] != 0) free = std::max(free, worth_[k]);
    }
    if (free < level_[U(i)]) cost += members_[U(i)] * Cheapest(i, level_[U(i)], guess_).cost;
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

// Prices by the interior point; true where its shares give all that is asked.
bool TypeBottleneck::Guess() {
  // Who needs all of its time on one type has no choice, and asked for it here would hold up all the others
  // at what types would: a program with two bottlenecks at once, of which no digits are left.
  std::vector<int> asking, on(level_.size(), -1);
  std::vector<double> left = left_;
  for (int i : asking_) {
    for (int j = 0; j < problem_.types() && level_[U(i)] >= Fastest(i) * (1.0 - kTop); ++j) {
      const std::size_t k = problem_.at(i, j);
      if (allowed_[k] != 0 && worth_[k] >= level_[U(i)] * (1.0 - kTop)) on[U(i)] = on[U(i)] == -1 ? j : -2;
    }
    if (on[U(i)] >= 0) left[U(on[U(i)])] -= members_[U(i)] * problem_.gang[U(i)];
  }
  const bool fits = std::all_of(left.begin(), left.end(), [](double gpus) { return gpus >= 0.0; });
  if (!fits) left = left_;
  for (int i : asking_) {
    if (!fits || on[U(i)] < 0) {
      asking.push_back(i);
    } else {
      std::fill_n(tried_.begin() + static_cast<std::ptrdiff_t>(problem_.at(i, 0)), left.size(), 0.0);
      tried_[problem_.at(i, on[U(i)])] = 1.0;
    }
  }
  if (asking.empty()) return true;
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
    for (std::size_t k = 0; k < asking.size(); ++k) {
      const std::size_t its = problem_.at(asking[k], j);
      program.worth[program.at(j, static_cast<int>(k))] = allowed_[its] != 0 ? worth_[its] : 0.0;
    }
  }
  ShareAnswer answer;
  LpStatus status = LpStatus::kError;
  for (const double gap : kInteriorGaps) {
    if (status == LpStatus::kError)
      status = SolveWideShares(program, ShareAim::kLevel, answer, time_limit_s_, gap);
  }
  if (status != LpStatus::kOptimal) {
    // The last ones found are those of the time that they bound, if there are any.
    interior_.resize(left_.size(), 0.0);
    guess_ = interior_;
    interior_part_ = 1.0;
    return false;
  }
  guess_ = answer.type_price;
  const double noise = kInteriorNoise * Highest(guess_);
  for (double& price : guess_) price = price > noise ? price : 0.0;
  interior_ = guess_;
  interior_part_ = part_ = std::min(1.0, answer.level);
  if (part_ < 1.0 - kInteriorTight) return false;
  for (std::size_t k = 0; k < asking.size(); ++k) {
    for (int j = 0; j < problem_.types(); ++j)
      tried_[problem_.at(asking[k], j)] = answer.x[program.at(j, static_cast<int>(k))] * part_ / answer.level;
  }
  return true;
}

// max c <= 1: the rising have c of their levels, the others theirs.
bool TypeBottleneck::SolvePart(std::span<const Entry> entries, double slack) {
  const std::size_t types = left_.size();
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  const int part = model.AddColumn(1.0, 0.0, 1.0);
  std::vector<std::vector<std::pair<int, double>>> of_type(types);
  std::vector<double> fixed(types, 0.0), asked(types, 0.0);
  for (const Entry& entry : entries) {
    const double load = members_[U(entry.job)] * problem_.gang[U(entry.job)];
    if (entry.fixed) {
      std::vector<double>& its = held_[U(entry.job)] != 0 ? fixed : asked;
      its[U(entry.mix.high)] += load * entry.mix.of_high;
      if (entry.mix.low >= 0) its[U(entry.mix.low)] += load * entry.mix.of_low;
      continue;
    }
    for (int j : entry.types) of_type[U(j)].emplace_back(model.AddColumn(0.0, 0.0, kLpInfinity), load);
  }
  for (std::size_t j = 0; j < types; ++j) {
    const double gpus = std::max(1, problem_.workers[j]);
    for (const auto& [column, load] : of_type[j]) model.AddEntry(column, load / gpus);
    model.AddEntry(part, asked[j] / gpus);
    model.EndRow(-kLpInfinity, std::max(0.0, left_[j] - fixed[j]) / gpus);
  }
  int column = part + 1;
  for (const Entry& entry : entries) {
    if (entry.fixed) continue;
    const int first = column;
    for (std::size_t k = 0; k < entry.types.size(); ++k) model.AddEntry(first + static_cast<int>(k), 1.0);
    model.EndRow(-kLpInfinity, 1.0);
    for (int j : entry.types)
      model.AddEntry(column++, worth_[problem_.at(entry.job, j)] / level_[U(entry.job)]);
    const bool held = held_[U(entry.job)] != 0;
    if (!held) model.AddEntry(part, -1.0);
    model.EndRow(held ? 1.0 - slack : 0.0, kLpInfinity);
  }
  if (lp_.Solve(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
  const LpSolution& solution = lp_.solution();
  part_ = solution.x[0];
  for (std::size_t j = 0; j < types; ++j)
    guess_[j] = std::max(0.0, solution.row_dual[j]) / std::max(1, problem_.workers[j]);
  column = part + 1;
  for (const Entry& entry : entries) {
    const std::size_t row = problem_.at(entry.job, 0);
    std::fill_n(tried_.begin() + static_cast<std::ptrdiff_t>(row), types, 0.0);
    if (entry.fixed) {
      const double its = held_[U(entry.job)] != 0 ? 1.0 : part_;
      tried_[row + U(entry.mix.high)] = its * entry.mix.of_high;
      if (entry.mix.low >= 0) tried_[row + U(entry.mix.low)] = its * entry.mix.of_low;
      continue;
    }
    for (int j : entry.types) tried_[row + U(j)] = std::clamp(solution.x[U(column++)], 0.0, 1.0);
  }
  return true;
}

bool TypeBottleneck::Part(double apart) {
  std::vector<Entry> entries;
  std::size_t choices = 0;
  for (int i : asking_) {
    if (apart < 1.0) {
      // Where the interior point is: at a part of what is asked.
      const double part = held_[U(i)] != 0 ? 1.0 : interior_part_;
      entries.push_back(Choose(i, part * level_[U(i)], interior_, apart));
      entries.back().mix.of_low /= part;
      entries.back().mix.of_high /= part;
      choices += entries.back().fixed ? 0 : entries.back().types.size();
      if (choices > kWholeColumns) return false;
      continue;
    }
    entries.emplace_back();
    entries.back().job = i;
    for (int j = 0; j < problem_.types(); ++j) {
      if (allowed_[problem_.at(i, j)] != 0) entries.back().types.push_back(j);
    }
  }
  return std::any_of(std::begin(kSlacks), std::end(kSlacks),
                     [&](double slack) { return SolvePart(entries, slack); });
}

TypeBottleneck::Found TypeBottleneck::Next(const WaterPath& path) {
  time_ = path.end();
  bool have = false;
  interior_.clear();
  double apart = kNearly;
  bool ask = true;
  for (int step = 0; step < kMostSteps; ++step) {
    path.At(time_, level_, rate_);
    tried_ = x_;
    asking_.clear();
    std::size_t columns = 0;
    for (int i = 0; i < problem_.jobs(); ++i) {
      if (fixed_[U(i)] != 0 || level_[U(i)] <= 0.0) continue;
      asking_.push_back(i);
      for (int j = 0; j < problem_.types(); ++j) columns += allowed_[problem_.at(i, j)] != 0 ? 1 : 0;
    }
    const bool whole = columns <= kWholeColumns;
    part_ = 1.0;
    guess_.resize(left_.size());
    bool reached = asking_.empty() || (!whole && ask && Guess());
    if (!reached && !whole && ask) {
      const std::vector<double> inside = guess_;
      const double bound = Bound(path);
      path.At(time_, level_, rate_);
      double clean = time_;
      if (bound > time_ * (1.0 - kNear) && Part(apart)) {  // near enough for a vertex' prices to be the last
        clean = Bound(path);
        path.At(time_, level_, rate_);
      }
      if (std::min(bound, clean) < time_ * (1.0 - kTight)) {
        const bool vertex = clean <= bound * (1.0 + kEqual);
        time_ = vertex ? clean : bound;
        price_ = vertex ? guess_ : inside;
        equal_ = vertex ? kEqual : kNearly;
        have = true;
        continue;
      }
    }
    if (!reached) {
      if (!Part(whole ? 1.0 : apart) && !Part(1.0)) return Found::kFailed;
      reached = part_ >= 1.0 - (whole ? kTight : kInteriorTight);
    }
    const double bound = reached ? time_ : Bound(path);
    if (bound < time_) {
      time_ = bound;
      price_ = guess_;
      equal_ = kEqual;
      have = ask = true;
      apart = kNearly;
    } else if (!reached && !whole && apart < 1.0) {  // other shares than those of the program cost as little
      apart *= 30.0;
      ask = false;
    } else {
      if (part_ < 1.0 - 1e-6) return Found::kFailed;
      x_ = tried_;
      return have ? Found::kTypes : Found::kEnd;
    }
  }
  return Found::kFailed;
}

std::vector<double> TypeBottleneck::Settle(std::span<const double> level, std::vector<char>& saturated) {
  const double least = equal_ * Highest(price_);
  std::vector<double> most(level.begin(), level.end());
  for (int i = 0; i < problem_.jobs(); ++i) {
    if (fixed_[U(i)] != 0) continue;
    double free = 0.0;
    for (int j = 0; j < problem_.types(); ++j) {
      const std::size_t k = problem_.at(i, j);
      if (allowed_[k] != 0 && price_[U(j)] <= least) free = std::max(free, worth_[k]);
    }
    if (saturated[U(i)] == 0 && level[U(i)] > 0.0 && level[U(i)] >= free * (1.0 - equal_))
      saturated[U(i)] = 1;
    if (saturated[U(i)] == 0) {
      most[U(i)] = std::max(free, level[U(i)]);
      for (int j = 0; j < problem_.types(); ++j) {
        if (price_[U(j)] > least) allowed_[problem_.at(i, j)] = 0;
      }
      continue;
    }
    held_[U(i)] = 1;
    if (level[U(i)] <= 0.0) {
      fixed_[U(i)] = 1;
      continue;
    }
    const Entry entry = Choose(i, level[U(i)], price_, equal_);
    const std::size_t row = problem_.at(i, 0);
    std::fill_n(allowed_.begin() + static_cast<std::ptrdiff_t>(row), left_.size(), 0);
    for (int j : entry.types) allowed_[row + U(j)] = 1;
    if (!entry.fixed) continue;
    fixed_[U(i)] = 1;
    const double load = members_[U(i)] * problem_.gang[U(i)];
    std::fill_n(x_.begin() + static_cast<std::ptrdiff_t>(row), left_.size(), 0.0);
    x_[row + U(entry.mix.high)] = entry.mix.of_high;
    left_[U(entry.mix.high)] -= load * entry.mix.of_high;
    if (entry.mix.low < 0) continue;
    x_[row + U(entry.mix.low)] = entry.mix.of_low;
    left_[U(entry.mix.low)] -= load * entry.mix.of_low;
  }
  return most;
}

}  // namespace berth::gavel
