#include "baselines/gavel/kind_shares.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kShortfall = 1e-10;  // of a demand

}  // namespace

bool SplitTimes(std::span<const TimeAt> times, std::span<const double> demand,
                std::vector<std::vector<JobShare>>& shares, std::vector<int>& blocked) {
  const int n = static_cast<int>(demand.size()), last = static_cast<int>(times.size()) - 1;
  std::vector<double> left, most(times.size()), piece(times.size());
  for (const TimeAt& at : times) left.push_back(at.time);
  shares.assign(times.size(), {});
  blocked.clear();
  bool enough = true;
  for (int i = 0; i < n; ++i) {
    // The slowest piece, from `low` up to `high`; then time at `low` gives way to time above `high`.
    int high = last + 1, low = last;
    double room = 1.0, mean = 0.0;
    bool held = false;
    for (int o = last; o >= 0; --o) {
      most[U(o)] = times[U(o)].own ? std::min(left[U(o)], 0.5 * times[U(o)].time) : left[U(o)];
      piece[U(o)] = std::min(most[U(o)], room);
      if (piece[U(o)] <= 0.0) continue;
      room -= piece[U(o)];
      mean += piece[U(o)] * times[U(o)].rate;
      high = o;
    }
    while (mean < demand[U(i)]) {
      while (low > 0 && piece[U(low)] <= 0.0) --low;
      while (high >= 0 && (high >= low || piece[U(high)] >= most[U(high)])) --high;
      if (high < 0) break;
      const double gain = times[U(high)].rate - times[U(low)].rate;
      double change = std::min(most[U(high)] - piece[U(high)], piece[U(low)]);
      const bool done = gain * change >= demand[U(i)] - mean;
      if (done) change = (demand[U(i)] - mean) / gain;
      piece[U(high)] += change;
      piece[U(low)] -= change;
      mean = done ? demand[U(i)] : mean + gain * change;
    }
    enough = enough && mean >= demand[U(i)] * (1.0 - kShortfall) && room <= kShortfall;
    for (int o = 0; o <= last; ++o) {
      held = held || (most[U(o)] < left[U(o)] && piece[U(o)] >= most[U(o)]);
      left[U(o)] = std::max(0.0, left[U(o)] - piece[U(o)]);
      if (piece[U(o)] > 0.0) shares[U(o)].push_back({i, piece[U(o)]});
    }
    if (held) blocked.push_back(i);
  }
  return enough;
}

std::vector<PairShare> MatchShares(std::span<const JobShare> one, std::span<const JobShare> other) {
  std::vector<PairShare> pairs;
  double first = 0.0, second = 0.0;  // what is left of the two at hand
  for (std::size_t i = 0, k = 0;;) {
    if (first <= 0.0) {
      if (i == one.size()) break;
      first = one[i++].share;
    } else if (second <= 0.0) {
      if (k == other.size()) break;
      second = other[k++].share;
    } else {
      const double share = std::min(first, second);
      pairs.push_back({one[i - 1].job, other[k - 1].job, share});
      first -= share, second -= share;
    }
  }
  return pairs;
}

// Laid end to end, each time beside what lies half of the sum further.
std::vector<PairShare> MatchShares(std::span<const JobShare> among) {
  double half = 0.0;
  for (const JobShare& its : among) half += 0.5 * its.share;
  std::vector<JobShare> one, other;
  for (const JobShare& its : among) {
    const double before = std::clamp(half, 0.0, its.share);
    half -= its.share;
    if (before > 0.0) one.push_back({its.job, before});
    if (its.share > before) other.push_back({its.job, its.share - before});
  }
  std::vector<PairShare> pairs = MatchShares(one, other);
  std::erase_if(pairs, [](const PairShare& pair) { return pair.first == pair.second; });  // rounding
  return pairs;
}

}  // namespace berth::gavel
