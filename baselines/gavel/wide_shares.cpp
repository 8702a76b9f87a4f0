#include "baselines/gavel/wide_shares.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr std::size_t kFirstColumns = 6;  // of a class
constexpr int kFewTypes = 16;             // up to which columns of all types are the first of a rough answer
constexpr std::size_t kNewColumns = 3;    // that join in a round, of a class, at most
constexpr int kMostRounds = 60;
// Of the last round: ColumnProgram::Solve.
constexpr double kLevelGap = 1e-8, kLogsGap = 5e-10;
constexpr double kFirstGap = 1e-3;  // of the first one
constexpr double kHopeless = 1e-3;  // shares, and what they cost beyond their worth

// What a share of each type would be worth beyond what it costs, by the prices of types and of the row of
// worth.
class Pricing {
 public:
  explicit Pricing(const ShareProgram& program) : program_(program) {
    in_.assign(program.worth.size(), 0);
    lists_.resize(U(program.classes()));
  }

  void Add(int its, int type) {
    if (in_[program_.at(type, its)] != 0) return;
    in_[program_.at(type, its)] = 1;
    lists_[U(its)].push_back(type);
  }

  // The types on which a class runs best for what GPUs are worth to all on average.
  void AddFirst(std::size_t most) {
    const int n = program_.classes(), types = program_.types();
    std::vector<double> best(U(n), 0.0), value(U(types), 0.0);
    for (int j = 0; j < types; ++j) {
      for (int i = 0; i < n; ++i) best[U(i)] = std::max(best[U(i)], program_.worth[program_.at(j, i)]);
    }
    for (int j = 0; j < types; ++j) {
      for (int i = 0; i < n; ++i)
        value[U(j)] += program_.members[U(i)] * program_.worth[program_.at(j, i)] / best[U(i)];
    }
    std::vector<std::pair<double, int>> order;
    for (int i = 0; i < n; ++i) {
      order.clear();
      for (int j = 0; j < types; ++j) {
        const double worth = program_.worth[program_.at(j, i)];
        if (worth > 0.0 && program_.workers[U(j)] > 0.0) order.emplace_back(-worth / value[U(j)], j);
      }
      const std::size_t taken = std::min(order.size(), most);
      std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(taken), order.end());
      for (std::size_t k = 0; k < taken; ++k) Add(i, order[k].second);
    }
  }

  // The types that a class had before and may need; of a new one those where what it does is cheapest.
  void AddFrom(const ShareStart& start, const std::vector<int>& before) {
    for (int i = 0; i < program_.classes(); ++i) {
      if (const int old = before[U(i)]; old >= 0) {
        for (std::size_t k = start.columns.begin[U(old)]; k < start.columns.begin[U(old) + 1]; ++k) {
          const int type = start.columns.type[k];
          const double worth = start.worth_price[old] * start.columns.worth[k];
          const double cost = start.time_price[old] + program_.gang[U(i)] * start.type_price[type] - worth;
          const bool hopeless =
              start.share[static_cast<Eigen::Index>(k)] < kHopeless && cost > kHopeless * worth;
          if (!hopeless && program_.worth[program_.at(type, i)] > 0.0) Add(i, type);
        }
      }
      if (!lists_[U(i)].empty()) continue;
      gains_.clear();
      for (int j = 0; j < program_.types(); ++j) {
        const double worth = program_.worth[program_.at(j, i)];
        if (program_.workers[U(j)] > 0.0 && worth > 0.0) gains_.emplace_back(-worth / start.type_price[j], j);
      }
      std::sort(gains_.begin(), gains_.end());
      gains_.resize(std::min(gains_.size(), kNewColumns));
      for (const auto& [negative, type] : gains_) Add(i, type);
    }
  }

  // How much the bound of all shares is above that of the columns; those that make it join.
  double Join(const ShareValues& price) {
    const int n = program_.classes(), types = program_.types();
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
      gains_.clear();
      for (int j = 0; j < types; ++j) {
        const double gain = program_.worth[program_.at(j, i)] * price.worth[i] -
                            program_.gang[U(i)] * price.type[j] - price.time[i];
        if (gain > 0.0 && program_.workers[U(j)] > 0.0 && in_[program_.at(j, i)] == 0)
          gains_.emplace_back(-gain, j);
      }
      if (gains_.empty()) continue;
      std::sort(gains_.begin(), gains_.end());
      sum -= program_.members[U(i)] * gains_.front().first;
      gains_.resize(std::min(gains_.size(), kNewColumns));
      for (const auto& [negative, type] : gains_) Add(i, type);
    }
    return sum;
  }

  // Without those that are far from being worth it: few are left to a class where the level is nearly
  // reached. One stays of a class that none is worth to.
  void Drop(const ShareColumns& columns, const ShareValues& share, const ShareValues& price) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const int first = lists_[i].front();
      std::erase_if(lists_[i], [&](int type) {
        for (std::size_t k = columns.begin[i]; k < columns.begin[i + 1]; ++k) {
          if (columns.type[k] != type) continue;
          const auto at = static_cast<Eigen::Index>(k);
          const double worth = price.worth[static_cast<Eigen::Index>(i)] * columns.worth[k];
          const bool hopeless = share.share[at] < kHopeless && price.share[at] > kHopeless * worth;
          if (hopeless) in_[program_.at(type, static_cast<int>(i))] = 0;
          return hopeless;
        }
        return false;
      });
      if (lists_[i].empty()) Add(static_cast<int>(i), first);
    }
  }

  ShareColumns columns() const {
    ShareColumns columns;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      columns.begin.push_back(columns.type.size());
      for (const int type : lists_[i]) {
        columns.type.push_back(type);
        columns.worth.push_back(program_.worth[program_.at(type, static_cast<int>(i))]);
      }
    }
    columns.begin.push_back(columns.type.size());
    return columns;
  }

 private:
  const ShareProgram& program_;
  std::vector<char> in_;  // [G, n]
  std::vector<std::vector<int>> lists_;
  std::vector<std::pair<double, int>> gains_;
};

void TakeColumns(const ShareColumns& columns, const ColumnProgram& solved, const ShareProgram& program,
                 ShareAnswer& answer) {
  answer.level = solved.level();
  answer.x.assign(program.worth.size(), 0.0);
  for (int i = 0; i < program.classes(); ++i) {
    for (std::size_t k = columns.begin[U(i)]; k < columns.begin[U(i) + 1]; ++k)
      answer.x[program.at(columns.type[k], i)] = solved.slack().share[static_cast<Eigen::Index>(k)];
  }
  const ShareValues& price = solved.price();
  answer.price.assign(price.worth.begin(), price.worth.end());
  answer.type_price.assign(price.type.begin(), price.type.end());
}

}  // namespace

void ShareMemory::Name(std::span<const int> keys, std::span<const int> class_of, int classes) {
  before.assign(U(classes), -1);
  std::vector<int> next(U(keys.back()) + 1, -1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t key = U(keys[i]), its = U(class_of[i]);
    next[key] = class_of[i];
    if (before[its] < 0 && key < class_of_key.size()) before[its] = class_of_key[key];
  }
  class_of_key = std::move(next);
}

LpStatus SolveWideShares(const ShareProgram& program, ShareAim aim, ShareAnswer& answer, double time_limit_s,
                         double last_gap, ShareMemory* memory) {
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  if (program.classes() == 0) return LpStatus::kError;
  const double least_gap = last_gap > 0.0 ? last_gap : aim == ShareAim::kLogs ? kLogsGap : kLevelGap;
  Pricing pricing(program);
  double gap = kFirstGap;
  ShareStart start;
  std::vector<int> its_class(U(program.classes()));
  std::iota(its_class.begin(), its_class.end(), 0);
  const bool goes_on = memory != nullptr && !memory->start.columns.type.empty();
  if (goes_on) {
    start = std::exchange(memory->start, {});
    pricing.AddFrom(start, memory->before);
    its_class.swap(memory->before);
    gap = least_gap;
  } else {
    const bool all = least_gap >= kFirstGap && program.types() <= kFewTypes;
    pricing.AddFirst(all ? static_cast<std::size_t>(kFewTypes) : kFirstColumns);
    if (U(program.types()) <= kFirstColumns) gap = least_gap;  // they are all there is
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const ShareColumns columns = pricing.columns();
    if (std::adjacent_find(columns.begin.begin(), columns.begin.end()) != columns.begin.end())
      return LpStatus::kError;  // a class that can have nothing
    ColumnProgram restricted(program, columns, aim);
    if (goes_on && !start.columns.type.empty()) restricted.StartFrom(start, its_class);
    const LpStatus status = restricted.Solve(gap, time_limit_s, passed);
    if (status == LpStatus::kError && goes_on)  // from nothing: the memory has no start any more
      return SolveWideShares(program, aim, answer, time_limit_s - passed(), last_gap, memory);
    if (status != LpStatus::kOptimal) return status;
    if (memory != nullptr) start = restricted.kept();
    if (round == 0) std::iota(its_class.begin(), its_class.end(), 0);
    const double above = pricing.Join(restricted.price()) / restricted.Unit();
    if (gap <= least_gap && above <= least_gap) {
      TakeColumns(columns, restricted, program, answer);
      if (memory != nullptr) memory->start = std::move(start);
      return LpStatus::kOptimal;
    }
    if (above <= 10.0 * gap && gap > least_gap) {
      pricing.Drop(columns, restricted.slack(), restricted.price());
      gap = std::max(least_gap, 0.01 * gap);
    }
  }
  return LpStatus::kError;
}

}  // namespace berth::gavel
