#include "baselines/adaptive/sia_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth::sia {
namespace {

constexpr int kMaxColumns = 2000;

// One whole choice: what it costs and the GPUs it takes.
struct Column {
  double cost = 0.0;
  std::vector<double> gpus;  // [types]
  std::vector<int> chosen;   // [classes] into Choice::option; empty: the slack of a type
};

// minimise sum cost_p y_p, sum gpus_p y_p + slack = capacity, sum y_p = 1, y >= 0: revised simplex with the
// inverse of the basis, which has types + 1 rows.
class Master {
 public:
  Master(const Choice& choice, Column first) : rows_(choice.capacity.size() + 1) {
    for (std::size_t type = 0; type + 1 < rows_; ++type) {
      Column slack;
      slack.gpus.assign(rows_ - 1, 0.0);
      slack.gpus[type] = 1.0;
      columns_.push_back(std::move(slack));
    }
    columns_.push_back(std::move(first));  // takes no GPU: with the slacks it is a basis
    inverse_.assign(rows_ * rows_, 0.0);
    for (std::size_t row = 0; row < rows_; ++row) {
      inverse_[row * rows_ + row] = 1.0;
      basis_.push_back(row);
      value_.push_back(row + 1 < rows_ ? choice.capacity[row] : 1.0);
    }
    Price();
  }

  void Add(Column column) { columns_.push_back(std::move(column)); }
  std::size_t columns() const { return columns_.size(); }
  const std::vector<double>& prices() const { return prices_; }
  double objective() const {
    double sum = 0.0;
    for (std::size_t row = 0; row < rows_; ++row) sum += value_[row] * columns_[basis_[row]].cost;
    return sum;
  }
  double Reduced(const Column& column) const {
    double reduced = column.cost - (column.chosen.empty() ? 0.0 : level_);
    for (std::size_t type = 0; type + 1 < rows_; ++type) reduced += prices_[type] * column.gpus[type];
    return reduced;
  }

  void Optimise(double tolerance) {
    for (int pivots = 0; pivots < 500; ++pivots) {
      std::size_t best = columns_.size();
      double least = -tolerance;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const double reduced = Reduced(columns_[i]);
        if (reduced < least) least = reduced, best = i;
      }
      if (best == columns_.size() || !Pivot(best)) return;
    }
  }

  // Adds what the basis weighs of each option.
  void AddShares(std::vector<double>& share) const {
    for (std::size_t row = 0; row < rows_; ++row)
      for (int option : columns_[basis_[row]].chosen) share[static_cast<std::size_t>(option)] += value_[row];
  }

 private:
  bool Pivot(std::size_t entering) {
    const Column& column = columns_[entering];
    std::vector<double> direction(rows_, 0.0);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t type = 0; type + 1 < rows_; ++type)
        direction[row] += inverse_[row * rows_ + type] * column.gpus[type];
      if (!column.chosen.empty()) direction[row] += inverse_[row * rows_ + rows_ - 1];
    }
    std::size_t leaving = rows_;
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows_; ++row) {
      if (direction[row] <= 1e-9) continue;
      const double its = value_[row] / direction[row];
      if (its < step) step = its, leaving = row;
    }
    if (leaving == rows_) return false;
    const double pivot = direction[leaving];
    for (std::size_t i = 0; i < rows_; ++i) inverse_[leaving * rows_ + i] /= pivot;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (row == leaving) continue;
      value_[row] = std::max(0.0, value_[row] - step * direction[row]);
      for (std::size_t i = 0; i < rows_; ++i)
        inverse_[row * rows_ + i] -= direction[row] * inverse_[leaving * rows_ + i];
    }
    value_[leaving] = step;
    basis_[leaving] = entering;
    Price();
    return true;
  }

  void Price() {
    prices_.assign(rows_ - 1, 0.0);
    level_ = 0.0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const double cost = columns_[basis_[row]].cost;
      for (std::size_t type = 0; type + 1 < rows_; ++type)
        prices_[type] -= cost * inverse_[row * rows_ + type];
      level_ += cost * inverse_[row * rows_ + rows_ - 1];
    }
  }

  std::size_t rows_;
  std::vector<Column> columns_;
  std::vector<std::size_t> basis_;
  std::vector<double> inverse_;  // [rows, rows]
  std::vector<double> value_;    // [rows] of the basic columns
  std::vector<double> prices_;   // [types]
  double level_ = 0.0;           // dual of sum y = 1
};

// The cheapest choice at the prices, and by how much its classes and the GPUs left over bound all choices.
Column Cheapest(const Choice& choice, const std::vector<double>& prices, double& bound) {
  Column column;
  column.gpus.assign(prices.size(), 0.0);
  column.chosen.reserve(choice.begin.size());
  bound = 0.0;
  for (std::size_t type = 0; type < prices.size(); ++type) bound -= prices[type] * choice.capacity[type];
  for (int its_class = 0; its_class < choice.classes(); ++its_class) {
    const int from = choice.begin[static_cast<std::size_t>(its_class)];
    const auto options = choice.options(its_class);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < options.size(); ++i) {
      const Option& option = options[i];
      double priced = static_cast<double>(option.cost);
      if (option.type >= 0) priced += prices[static_cast<std::size_t>(option.type)] * option.gpus;
      if (priced < least) least = priced, best = i;
    }
    bound += least;
    column.cost += static_cast<double>(options[best].cost);
    if (options[best].type >= 0)
      column.gpus[static_cast<std::size_t>(options[best].type)] += options[best].gpus;
    column.chosen.push_back(from + static_cast<int>(best));
  }
  return column;
}

Column WithoutGpus(const Choice& choice) {
  Column column;
  column.gpus.assign(choice.capacity.size(), 0.0);
  for (int its_class = 0; its_class < choice.classes(); ++its_class) {
    const int from = choice.begin[static_cast<std::size_t>(its_class)];
    const auto options = choice.options(its_class);
    int best = -1;
    for (int i = 0; i < static_cast<int>(options.size()); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (options[at].gpus == 0 &&
          (best < 0 || options[at].cost < options[static_cast<std::size_t>(best)].cost))
        best = i;
    }
    column.cost += static_cast<double>(options[static_cast<std::size_t>(best)].cost);
    column.chosen.push_back(from + best);
  }
  return column;
}

}  // namespace

std::int64_t PricedBound(const Choice& choice, const std::vector<std::int64_t>& per_gpu) {
  std::int64_t bound = 0;
  for (std::size_t type = 0; type < per_gpu.size(); ++type) bound -= per_gpu[type] * choice.capacity[type];
  for (int its_class = 0; its_class < choice.classes(); ++its_class) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Option& option : choice.options(its_class)) {
      const std::int64_t price = option.type < 0 ? 0 : per_gpu[static_cast<std::size_t>(option.type)];
      least = std::min(least, option.cost + price * option.gpus);
    }
    bound += least;
  }
  return bound;
}

Prices FindPrices(const Choice& choice) {
  Prices found;
  const std::size_t types = choice.capacity.size();
  std::vector<double> best(types, 0.0);
  double best_bound = 0.0, bound = 0.0;
  Master master(choice, WithoutGpus(choice));
  const double tolerance = 1e-11 * std::max(1.0, std::abs(master.objective()));
  master.Add(Cheapest(choice, best, best_bound));
  master.Optimise(tolerance);
  std::vector<double> between(types);
  while (master.columns() < kMaxColumns && master.objective() - best_bound > tolerance) {
    const std::vector<double> prices = master.prices();
    bool improves = false;
    for (const double weight : {0.5, 0.0}) {
      for (std::size_t type = 0; type < types; ++type)
        between[type] = std::max(0.0, weight * best[type] + (1.0 - weight) * prices[type]);
      Column column = Cheapest(choice, between, bound);
      if (bound > best_bound) best_bound = bound, best = between;
      improves = master.Reduced(column) < -tolerance;
      if (improves) master.Add(std::move(column));
      if (improves) break;
    }
    if (!improves) break;
    master.Optimise(tolerance);
  }
  found.share.assign(choice.option.size(), 0.0);
  master.AddShares(found.share);
  for (double price : best) found.per_gpu.push_back(std::llround(price));
  found.bound = PricedBound(choice, found.per_gpu);
  return found;
}

}  // namespace berth::sia
