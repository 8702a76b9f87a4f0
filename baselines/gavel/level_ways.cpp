#include "baselines/gavel/level_ways.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr int kMostWayRounds = 4, kMostRows = 2500;  // beyond which better prices come sooner
// How often types without a price are given theirs back, and by which part first ways are then beyond them.
constexpr int kMostTurns = 4;
constexpr double kOverrun = 1.05;
constexpr std::size_t kFirstJoin = 250;  // ways, twice as many in each round
constexpr double kMost = 2.0;            // the part, which nothing may bound
// By which part of the cost of a level other ways may be dearer and are tried at the beginning.
constexpr double kNearCost = 1e-2;
// What rounding of held jobs may cost them: the first of these parts with which the program is feasible.
constexpr double kHeldSlacks[] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8};
constexpr double kSame = 1e-12;  // shares apart by less are the same, and so are costs by this part

}  // namespace

bool LevelWays::Has(std::size_t its, const Way& way) const {
  return std::any_of(ways_[its].begin(), ways_[its].end(), [&](const Way& other) {
    return std::equal(way.begin(), way.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
      return a.first == b.first && std::abs(a.second - b.second) <= kSame;
    });
  });
}

void LevelWays::Add(std::size_t its, Way way) {
  std::erase_if(way, [](const auto& share) { return share.second <= 0.0; });
  if (!Has(its, way)) ways_[its].push_back(std::move(way));
}

// The shares inside on types without a price, made to be worth the level: less of all, or time that was left,
// or more on the fastest of them.
LevelWays::Way LevelWays::Inside(const Question& question, int job, std::span<const double> price) const {
  const double level = question.level[U(job)];
  Way way;
  double time = 0.0, worth = 0.0;
  std::size_t fastest = 0;
  for (int j = 0; j < problem_.types(); ++j) {
    if (price[U(j)] > 0.0 || !shares_.allowed(job, j)) continue;
    const double share = std::max(0.0, question.inside[problem_.at(job, j)]);
    if (!way.empty() && shares_.worth(job, j) > shares_.worth(job, way[fastest].first)) fastest = way.size();
    way.emplace_back(j, share);
    time += share;
    worth += share * shares_.worth(job, j);
  }
  if (worth > 0.0) {
    const double scale = std::min(1.0 / time, level / worth);
    for (auto& [type, share] : way) share *= scale;
    time *= scale, worth *= scale;
  }
  if (worth < level) {
    // Of its time a part goes to the fastest, and what is left of it.
    const double best = shares_.worth(job, way[fastest].first);
    const double part = std::min(1.0, (level - worth) / (best - worth));
    for (auto& [type, share] : way) share *= 1.0 - part;
    way[fastest].second += part;
  }
  return way;
}

LevelWays::Way LevelWays::Cheapest(const Question& question, int job, std::span<const double> price) const {
  const double level = question.level[U(job)];
  if (shares_.Free(job, price, 0.0) >= level) return Inside(question, job, price);
  const ShareMix mix = shares_.Cheapest(job, level, price);
  Way way;
  if (mix.low >= 0) way.emplace_back(mix.low, mix.of_low);
  way.emplace_back(mix.high, std::min(1.0, mix.of_high));
  return way;
}

double LevelWays::Cost(int job, const Way& way, std::span<const double> price) const {
  double cost = 0.0;
  for (const auto& [type, share] : way) cost += share * price[U(type)];
  return cost * problem_.gang[U(job)];
}

void LevelWays::Begin(const Question& question, std::span<const double> near) {
  ways_.assign(question.jobs.size(), {});
  const std::vector<double> none(near.size(), 0.0);
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    const int job = question.jobs[k];
    const double level = question.level[U(job)];
    Add(k, Cheapest(question, job, near));
    if (question.all) Add(k, Inside(question, job, none));
    const bool held = question.held[U(job)] != 0;
    if (!held && shares_.Free(job, near, 0.0) >= level) continue;
    const double dear = problem_.gang[U(job)] * HighestPrice(near);
    const double apart = held ? kLpInfinity : kNearCost * Cost(job, ways_[k].front(), near) / dear;
    const ShareChoice choice = shares_.Choose(job, level, near, apart);
    for (const int high : choice.types) {
      const double its = shares_.worth(job, high);
      if (its < level) continue;
      if (choice.mix.low < 0 || choice.mix.of_time <= apart * dear) Add(k, {{high, level / its}});
      for (const int low : choice.types) {
        const double less = shares_.worth(job, low);
        if (less < level)
          Add(k, {{low, (its - level) / (its - less)}, {high, (level - less) / (its - less)}});
      }
    }
  }
}

// Whether the first ways of all take far more of a type without a price than it has: it has one then.
bool LevelWays::Overrun(const Question& question, std::vector<double>& near) const {
  std::vector<double> used(near.size(), 0.0);
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    const int job = question.jobs[k];
    for (const auto& [type, share] : ways_[k].front())
      used[U(type)] += members_[U(job)] * problem_.gang[U(job)] * share;
  }
  bool any = false;
  for (std::size_t j = 0; j < near.size(); ++j) {
    if (near[j] >= question.rough[j] || used[j] <= kOverrun * question.left[j]) continue;
    near[j] = question.rough[j];
    any = true;
  }
  return any;
}

bool LevelWays::Program(const Question& question, double slack, std::vector<double>& price, double& part) {
  const std::size_t types = question.left.size();
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  model.AddColumn(1.0, 0.0, kMost);
  std::vector<std::vector<std::pair<int, double>>> of_type(types);
  std::vector<double> held(types, 0.0), asked(types, 0.0);
  column_.assign(ways_.size(), -1);
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    const int job = question.jobs[k];
    const double load = members_[U(job)] * problem_.gang[U(job)];
    if (ways_[k].size() > 1) column_[k] = model.columns();
    for (const Way& way : ways_[k]) {
      const int column = column_[k] < 0 ? 0 : model.AddColumn(0.0, 0.0, kLpInfinity);
      for (const auto& [type, share] : way) {
        if (column > 0) {
          of_type[U(type)].emplace_back(column, load * share);
        } else {
          (question.held[U(job)] != 0 ? held : asked)[U(type)] += load * share;
        }
      }
    }
  }
  for (std::size_t j = 0; j < types; ++j) {
    const double gpus = std::max(1, problem_.workers[j]);
    for (const auto& [column, load] : of_type[j]) model.AddEntry(column, load / gpus);
    model.AddEntry(0, asked[j] / gpus);
    model.EndRow(-kLpInfinity, std::max(0.0, question.left[j] - held[j]) / gpus);
  }
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (column_[k] < 0) continue;
    for (std::size_t way = 0; way < ways_[k].size(); ++way)
      model.AddEntry(column_[k] + static_cast<int>(way), 1.0);
    const bool held_one = question.held[U(question.jobs[k])] != 0;
    if (!held_one) model.AddEntry(0, -1.0);
    model.EndRow(held_one ? 1.0 - slack : 0.0, held_one ? 1.0 : 0.0);
  }
  if (lp_.SolveOnly(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
  part = lp_.solution().x[0];
  price.resize(types);
  for (std::size_t j = 0; j < types; ++j)
    price[j] = std::max(0.0, lp_.solution().row_dual[j]) / std::max(1, problem_.workers[j]);
  return true;
}

// By how much what all ask for costs less with the ways that join, of the part that they have; those that
// cost the most less join, `most` at once.
double LevelWays::Join(const Question& question, std::span<const double> price, std::size_t most) {
  double sum = 0.0;
  std::vector<std::pair<double, std::size_t>> gains;
  std::vector<Way> ways;
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    const int job = question.jobs[k];
    double least = kLpInfinity;
    for (const Way& way : ways_[k]) least = std::min(least, Cost(job, way, price));
    if (least <= 0.0) continue;
    Way way = Cheapest(question, job, price);
    const double gain = least - Cost(job, way, price);
    if (gain <= kSame * least) continue;
    sum += members_[U(job)] * gain;
    gains.emplace_back(-members_[U(job)] * gain, k);
    ways.push_back(std::move(way));
  }
  std::vector<std::size_t> order(gains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  most = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [&](std::size_t a, std::size_t b) { return gains[a] < gains[b]; });
  for (std::size_t k = 0; k < most; ++k) Add(gains[order[k]].second, std::move(ways[order[k]]));
  return sum;
}

bool LevelWays::Solve(const Question& question, double enough, std::vector<double>& price, double& part,
                      Allocation& x) {
  std::vector<double> near(question.near.begin(), question.near.end());
  Begin(question, near);
  for (int turn = 0; turn < kMostTurns && Overrun(question, near); ++turn) Begin(question, near);
  bool closed = false;
  std::size_t join = kFirstJoin;
  for (int round = 0; !closed; ++round, join *= 2) {
    const bool solved = std::any_of(std::begin(kHeldSlacks), std::end(kHeldSlacks),
                                    [&](double slack) { return Program(question, slack, price, part); });
    if (!solved) return false;
    // The costs of what rises are 1 together at these prices, so that is what c can gain.
    closed = part >= enough || Join(question, price, join) <= 0.1 * std::abs(1.0 - part);
    if (!closed && (round >= kMostWayRounds || (!question.all && lp_.model().rows() > kMostRows)))
      return false;
  }
  const std::vector<double>& solution = lp_.solution().x;
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    const int job = question.jobs[k];
    const bool held = question.held[U(job)] != 0;
    const std::size_t row = problem_.at(job, 0);
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(row), problem_.types(), 0.0);
    const double scale = held ? 1.0 : 1.0 / std::max(1.0, part);
    for (std::size_t way = 0; way < ways_[k].size(); ++way) {
      const double its = column_[k] >= 0 ? solution[U(column_[k]) + way] : held ? 1.0 : part;
      for (const auto& [type, share] : ways_[k][way]) x[row + U(type)] += std::max(0.0, its) * scale * share;
    }
  }
  return true;
}

}  // namespace berth::gavel
