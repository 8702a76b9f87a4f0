#include "env/base/grouped_assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::span<const int> GroupedAssignment::Solve(std::span<const double> cost, std::span<const int> room) {
  BERTH_CHECK(!room.empty() && cost.size() % room.size() == 0, cost.size(), " costs, ", room.size(),
              " groups");
  cost_ = cost;
  groups_ = room.size();
  room_.assign(room.begin(), room.end());
  moves_.resize(std::max(moves_.size(), groups_ * groups_));
  for (std::vector<Gain>& moves : moves_) moves.clear();
  least_.resize(groups_);
  before_.resize(groups_);
  const std::size_t rows = cost.size() / groups_;
  group_of_.assign(rows, -1);
  cheapest_.assign(groups_ * groups_, {kInfinity, -1});
  for (added_ = 1; U(added_) <= rows; ++added_) Add(added_ - 1);
  return group_of_;
}

std::span<const double> GroupedAssignment::Prices(std::span<const double> cost) {
  BERTH_CHECK(cost.size() == group_of_.size() * groups_, cost.size(), " costs, ", group_of_.size(), " rows");
  // p[from] - p[to] <= gap[from, to], or somebody would rather move.
  gap_.assign(groups_ * groups_, kInfinity);
  for (std::size_t row = 0; row < group_of_.size(); ++row) {
    const std::size_t from = U(group_of_[row]);
    const double* costs = cost.data() + row * groups_;
    for (std::size_t to = 0; to < groups_; ++to) {
      double& gap = gap_[from * groups_ + to];
      gap = std::min(gap, costs[to] - costs[from]);
    }
  }
  low_.assign(groups_, 0.0);
  high_.resize(groups_);
  for (std::size_t g = 0; g < groups_; ++g) high_[g] = room_[g] > 0 ? 0.0 : kInfinity;
  Raise();
  for (std::size_t pass = 0; pass < groups_; ++pass) {
    for (std::size_t from = 0; from < groups_; ++from) {
      for (std::size_t to = 0; to < groups_; ++to) {
        const double gap = gap_[from * groups_ + to];
        if (gap < kInfinity) high_[from] = std::min(high_[from], gap + high_[to]);
      }
    }
  }
  bool unbounded = false;
  for (std::size_t g = 0; g < groups_; ++g) {
    if (high_[g] < kInfinity) {
      low_[g] = std::max(0.0, 0.5 * (low_[g] + high_[g]));
    } else {
      unbounded = true;
    }
  }
  // Where nothing bounds a price it follows those that have risen to their middle, which it cannot bound.
  if (unbounded) Raise();
  return low_;
}

// The least prices of at least `low_`: Bellman and Ford.
void GroupedAssignment::Raise() {
  for (std::size_t pass = 0; pass < groups_; ++pass) {
    for (std::size_t from = 0; from < groups_; ++from) {
      for (std::size_t to = 0; to < groups_; ++to) {
        const double gap = gap_[from * groups_ + to];
        if (gap < kInfinity) low_[to] = std::max(low_[to], low_[from] - gap);
      }
    }
  }
}

double GroupedAssignment::Cost(int row, std::size_t group) const {
  return cost_[U(row) * groups_ + group];
}

// Into the group that the cheapest path of moves ends at.
void GroupedAssignment::Add(int row) {
  std::copy_n(cost_.begin() + static_cast<std::ptrdiff_t>(U(row) * groups_), groups_, least_.begin());
  std::fill(before_.begin(), before_.end(), -1);
  // Bellman and Ford: moves may gain, no circle of them does.
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::size_t from = 0; from < groups_; ++from) {
      if (room_[from] > 0 || least_[from] == kInfinity) continue;  // nobody need give way there
      const Gain* cheapest = cheapest_.data() + from * groups_;
      for (std::size_t to = 0; to < groups_; ++to) {
        const double there = least_[from] + cheapest[to].first;
        if (!(there < least_[to]) || to == from || Passes(from, to)) continue;
        least_[to] = there;
        before_[to] = static_cast<int>(from);
        shorter = true;
      }
    }
  }
  std::size_t end = groups_;
  for (std::size_t g = 0; g < groups_; ++g) {
    if (room_[g] > 0 && (end == groups_ || least_[g] < least_[end])) end = g;
  }
  BERTH_CHECK(end < groups_ && least_[end] < kInfinity, "no room for row ", row);
  const std::size_t taken = end;
  for (; before_[end] >= 0; end = U(before_[end]))
    Move(cheapest_[U(before_[end]) * groups_ + end].second, end);
  Move(row, end);
  if (--room_[taken] == 0) Fill(taken);
}

// Whether the path to `from` leads through `to` already: only rounding makes such a circle.
bool GroupedAssignment::Passes(std::size_t from, std::size_t to) const {
  for (int g = static_cast<int>(from); g >= 0; g = before_[U(g)]) {
    if (U(g) == to) return true;
  }
  return false;
}

// Of those in a full group, whom it costs least to move; entries of those who left are dropped as they come
// up.
void GroupedAssignment::FindCheapest(std::size_t from, std::size_t to) {
  std::vector<Gain>& moves = moves_[from * groups_ + to];
  while (!moves.empty() && group_of_[U(moves.front().second)] != static_cast<int>(from)) {
    std::pop_heap(moves.begin(), moves.end(), std::greater<>());
    moves.pop_back();
  }
  cheapest_[from * groups_ + to] = moves.empty() ? Gain{kInfinity, -1} : moves.front();
}

// A group has become full, and is from here on: who is there may have to give way.
void GroupedAssignment::Fill(std::size_t group) {
  for (std::size_t to = 0; to < groups_; ++to) {
    if (to == group) continue;
    std::vector<Gain>& moves = moves_[group * groups_ + to];
    for (int row = 0; row < added_; ++row) {
      if (group_of_[U(row)] == static_cast<int>(group) && Cost(row, to) < kInfinity)
        moves.emplace_back(Cost(row, to) - Cost(row, group), row);
    }
    std::make_heap(moves.begin(), moves.end(), std::greater<>());
    FindCheapest(group, to);
  }
}

void GroupedAssignment::Move(int row, std::size_t to) {
  const int from = std::exchange(group_of_[U(row)], static_cast<int>(to));
  for (std::size_t next = 0; next < groups_; ++next) {
    if (from >= 0 && room_[U(from)] == 0 && next != U(from) &&
        cheapest_[U(from) * groups_ + next].second == row) {
      FindCheapest(U(from), next);
    }
    if (room_[to] > 0 || next == to || Cost(row, next) == kInfinity) continue;
    std::vector<Gain>& moves = moves_[to * groups_ + next];
    moves.emplace_back(Cost(row, next) - Cost(row, to), row);
    std::push_heap(moves.begin(), moves.end(), std::greater<>());
    FindCheapest(to, next);
  }
}

}  // namespace berth
