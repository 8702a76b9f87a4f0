#include "baselines/gavel/priced_shares.hpp"

#include <algorithm>

#include "baselines/lp.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kTop = 1e-10;  // of its level, below which a job has no choice but its fastest types

}  // namespace

PricedShares::PricedShares(const Problem& problem, const std::vector<double>& worth)
    : problem_(problem), worth_(worth) {
  for (std::size_t k = 0; k < worth.size(); ++k)
    allowed_.push_back(worth[k] > 0.0 && problem.workers[k % problem.workers.size()] > 0 ? 1 : 0);
}

double HighestPrice(std::span<const double> price) {
  return *std::max_element(price.begin(), price.end());
}

double PricedShares::Fastest(int job) const {
  double fastest = 0.0;
  for (int j = 0; j < problem_.types(); ++j) {
    if (allowed(job, j)) fastest = std::max(fastest, worth(job, j));
  }
  return fastest;
}

bool PricedShares::AtTop(int job, double level) const {
  return level >= Fastest(job) * (1.0 - kTop);
}

int PricedShares::OnlyFastest(int job) const {
  const double fastest = Fastest(job);
  int only = -1;
  for (int j = 0; j < problem_.types(); ++j) {
    if (!allowed(job, j) || worth(job, j) < fastest * (1.0 - kTop)) continue;
    if (only >= 0) return -1;
    only = j;
  }
  return only;
}

double PricedShares::Free(int job, std::span<const double> price, double least) const {
  double free = 0.0;
  for (int j = 0; j < problem_.types(); ++j) {
    if (price[U(j)] <= least && allowed(job, j)) free = std::max(free, worth(job, j));
  }
  return free;
}

// The edge of the lower hull of idling (0, 0) and all types (worth, gang price) that spans the level.
ShareMix PricedShares::Cheapest(int job, double level, std::span<const double> price) const {
  const std::size_t row = problem_.at(job, 0);
  const double gang = problem_.gang[U(job)];
  const int types = problem_.types();
  ShareMix mix;
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
ShareChoice PricedShares::Choose(int job, double level, std::span<const double> price, double apart) const {
  ShareChoice choice;
  choice.mix = Cheapest(job, level, price);
  const double gang = problem_.gang[U(job)], within = apart * gang * HighestPrice(price);
  const bool top = AtTop(job, level);
  double cheapest = kLpInfinity;
  for (int j = 0; top && j < problem_.types(); ++j) {
    const std::size_t k = problem_.at(job, j);
    if (allowed_[k] != 0 && worth_[k] >= level * (1.0 - kTop)) cheapest = std::min(cheapest, price[U(j)]);
  }
  for (int j = 0; j < problem_.types(); ++j) {
    const std::size_t k = problem_.at(job, j);
    if (allowed_[k] == 0) continue;
    const double beyond = gang * price[U(j)] + choice.mix.of_time - choice.mix.slope * worth_[k];
    const bool near = top ? worth_[k] >= level * (1.0 - kTop) && gang * (price[U(j)] - cheapest) <= within
                          : j == choice.mix.low || j == choice.mix.high || beyond <= within;
    if (near) choice.types.push_back(j);
  }
  if (choice.types.size() == 1) {
    choice.fixed = true;
    choice.mix.low = -1;
    choice.mix.high = choice.types.front();
    choice.mix.of_low = 0.0;
    choice.mix.of_high = std::min(1.0, level / worth_[problem_.at(job, choice.mix.high)]);
  } else {
    choice.fixed = !top && choice.types.size() == 2 && choice.mix.low >= 0 && choice.mix.of_time > within;
  }
  return choice;
}

}  // namespace berth::gavel
