#include "baselines/adaptive/pareto.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "env/base/index.hpp"

namespace berth::pollux {

std::vector<std::vector<int>> ParetoFronts(std::span<const Value> values, std::size_t enough) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[U(a)] > values[U(b)]; });
  // In this order nobody is dominated by one who comes later. Of a front the last one has most of the second
  // objective, of equal ones the first: who that one does not dominate, nobody in the front does.
  std::vector<std::vector<int>> fronts;
  std::vector<int> tails;
  for (const int i : order) {
    const auto at = std::partition_point(tails.begin(), tails.end(),
                                         [&](int tail) { return Dominates(values[U(tail)], values[U(i)]); });
    const auto front = static_cast<std::size_t>(at - tails.begin());
    if (at == tails.end()) {
      fronts.push_back({});
      tails.push_back(i);
    } else if (values[U(i)][1] > values[U(*at)][1]) {
      tails[front] = i;
    }
    fronts[front].push_back(i);
  }
  std::size_t held = 0, count = 0;
  while (count < fronts.size() && held < enough) held += fronts[count++].size();
  fronts.resize(count);
  return fronts;
}

std::vector<double> Crowding(std::span<const Value> values, std::span<const int> front) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> crowding(front.size(), kInfinity);
  if (front.size() <= 2) return crowding;
  std::vector<std::size_t> order(front.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto value = [&](std::size_t i) -> const Value& { return values[U(front[i])]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  std::fill(crowding.begin(), crowding.end(), 0.0);
  const auto alike = [&](std::size_t a, std::size_t b) { return value(a) == value(b); };
  order.erase(std::unique(order.begin(), order.end(), alike), order.end());
  for (int f = 0; f < 2; ++f) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return value(a)[U(f)] < value(b)[U(f)]; });
    const double extent = value(order.back())[U(f)] - value(order.front())[U(f)];
    crowding[order.front()] = crowding[order.back()] = kInfinity;
    for (std::size_t i = 1; extent > 0.0 && i + 1 < order.size(); ++i)
      crowding[order[i]] += (value(order[i + 1])[U(f)] - value(order[i - 1])[U(f)]) / extent / 2.0;
  }
  return crowding;
}

}  // namespace berth::pollux
