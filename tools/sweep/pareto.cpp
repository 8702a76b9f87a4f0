#include "tools/sweep/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {

std::vector<std::size_t> NonDominated(std::span<const std::pair<double, double>> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isnan(points[i].first) && !std::isnan(points[i].second)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool better = front.empty() || points[i].second < points[front.back()].second;
    if (better || points[i] == points[front.back()]) front.push_back(i);
  }
  return front;
}

std::pair<MetricColumn, MetricColumn> ParsePareto(const std::string& text) {
  const std::vector<std::string> names = SplitOutsideParentheses(text, ',');
  if (names.size() != 2) throw Error(Join("expected two figures A,B, found '", text, "'"));
  std::pair<MetricColumn, MetricColumn> pair{NamedMetric(names[0]), NamedMetric(names[1])};
  if (pair.first.field == pair.second.field)
    throw Error(Join("expected two different figures, found '", text, "'"));
  return pair;
}

ParetoFront FrontOf(const SweepTable& table, const std::string& names) {
  const auto [first, second] = ParsePareto(names);
  ParetoFront front{first, second, {}, 0, 0};
  std::vector<std::pair<double, double>> points;
  const auto less = [](const MetricColumn& column, const Metrics& metrics) {
    const double value = column.field->Get(metrics);
    return MoreIsBetter(*column.field) ? -value : value;
  };
  for (const SweptRow& row : table.rows) {
    const Metrics& metrics = row.summary.metrics;
    const bool lost = metrics.unfinished > 0, unstable = row.summary.unstable;
    front.lost_jobs += lost;
    front.unstable += !lost && unstable;
    points.emplace_back(less(first, metrics), less(second, metrics));
    if (lost || unstable) points.back().first = std::numeric_limits<double>::quiet_NaN();
  }
  front.rows = NonDominated(points);
  return front;
}

}  // namespace berth
