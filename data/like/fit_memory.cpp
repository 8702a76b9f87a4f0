#include "data/like/fit_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/like/draw.hpp"

namespace berth {

double SixDigits(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  return scale >= 1.0 ? std::round(value * scale) / scale : std::round(value * scale) * (1.0 / scale);
}

std::vector<double> LikeScores(const std::vector<double>& sample) {
  const std::size_t n = sample.size();
  Stream ties(/*seed=*/0, Purpose::kShuffle);
  std::vector<std::pair<double, double>> by(n);
  for (std::size_t i = 0; i < n; ++i) by[i] = {sample[i], ties.Uniform()};
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return by[a] < by[b]; });
  std::vector<double> scores(n);
  for (std::size_t rank = 0; rank < n; ++rank)
    scores[order[rank]] = NormalScore((static_cast<double>(rank) + 0.5) / static_cast<double>(n));
  return scores;
}

LikeMemory FitJobMemory(const std::vector<int>& keys, const std::vector<double>& share,
                        const std::vector<double>& scores) {
  constexpr double kMostAgain = 0.999;
  constexpr double kLeastGain =
      6.0;  // of the logarithm: three parameters gain it by chance once in 130 times
  constexpr std::size_t kRecencies = 13, kMostValues = 40000;
  const std::size_t n = keys.size(), step = n / kMostValues + 1;
  double weight[kRecencies][LikeMemory::kBack];
  for (std::size_t r = 0; r < kRecencies; ++r) {
    double sum = 0.0;
    for (int k = 0; k < LikeMemory::kBack; ++k)
      sum += weight[r][k] = std::pow(static_cast<double>(k + 1), -0.25 * static_cast<double>(r));
    for (double& it : weight[r]) it /= sum;
  }
  LikeMemory best;
  double most = kLeastGain;
  for (const double same : {0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99}) {
    const double own = 1.0 - same * same, scale = 1.0 / std::sqrt(own);
    std::vector<double> off[kRecencies];  // (density that is like others) / share - (weight that is there)
    for (std::size_t i = 1; i < n; i += step) {
      double sum[kRecencies] = {};
      for (std::size_t k = 0; k < std::min<std::size_t>(i, LikeMemory::kBack); ++k) {
        double density = 0.0;
        if (keys[i - 1 - k] == keys[i]) {
          const double distance = scores[i] - same * scores[i - 1 - k];
          density = scale * std::exp(0.5 * (scores[i] * scores[i] - distance * distance / own)) / share[i];
        }
        for (std::size_t r = 0; r < kRecencies; ++r) sum[r] += weight[r][k] * (density - 1.0);
      }
      for (std::size_t r = 0; r < kRecencies; ++r) off[r].push_back(sum[r]);
    }
    for (std::size_t r = 0; r < kRecencies; ++r) {
      double low = 0.0, high = kMostAgain;
      for (int halving = 0; halving < 25; ++halving) {
        const double again = 0.5 * (low + high);
        double slope = 0.0;
        for (const double it : off[r]) slope += it / (1.0 + again * it);
        (slope > 0.0 ? low : high) = again;
      }
      double gain = 0.0;
      for (const double it : off[r]) gain += std::log1p(low * it);
      if (gain > most) most = gain, best = {SixDigits(low), 0.25 * static_cast<double>(r), same};
    }
  }
  return best;
}

namespace {

// Sorted counts of arrivals in each whole slot.
std::vector<double> SortedCounts(const std::vector<double>& gaps, std::size_t begin, double slot) {
  std::vector<double> counts;
  double now = 0.0, end = slot, count = 0.0;
  for (std::size_t i = begin; i < gaps.size(); ++i) {
    for (now += gaps[i]; now >= end; end += slot) counts.push_back(count), count = 0.0;
    count += 1.0;
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

}  // namespace

double KolmogorovDistance(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1.0;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double most = 0.0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    most = std::max(most, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return most;
}

LikeMemory FitGapMemory(const std::vector<double>& gaps, const LikeQuantiles& distribution, double mean_s) {
  constexpr std::size_t kSimulated = 40000, kBurnIn = 2000, kLeastHours = 48, kLeastDays = 14;
  constexpr double kLeastGain = 0.02;
  const double hour = 3600.0 / mean_s, day = 24.0 * hour;  // in mean gaps
  const std::vector<double> hourly = SortedCounts(gaps, 0, hour), daily = SortedCounts(gaps, 0, day);
  if (hourly.size() < kLeastHours) return {};
  std::vector<double> simulated(kSimulated);
  const auto distance = [&](const LikeMemory& memory) {
    LikeHistory history(memory);
    Stream stream(/*seed=*/0, Purpose::kArrivals);
    for (double& gap : simulated) {
      const LikeKind kind = history.Next(stream);
      history.Add(kind);
      gap = distribution.At(NormalShare(kind.score));
    }
    double off = KolmogorovDistance(SortedCounts(simulated, kBurnIn, hour), hourly);
    if (daily.size() >= kLeastDays) off += KolmogorovDistance(SortedCounts(simulated, kBurnIn, day), daily);
    return off;
  };
  LikeMemory best;
  double least = distance(best) - kLeastGain;
  for (const double again : {0.3, 0.5, 0.7, 0.8, 0.9, 0.95}) {
    for (const double recency : {1.0, 1.5, 2.0}) {
      for (const double same : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98}) {
        const LikeMemory memory{again, recency, same};
        if (const double off = distance(memory); off < least) least = off, best = memory;
      }
    }
  }
  return best;
}

}  // namespace berth
