#include "baselines/grouped_assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "env/check.hpp"
#include "env/index.hpp"

namespace berth {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Groups {
 public:
  Groups(std::span<const double> cost, std::span<const int> room)
      : cost_(cost),
        groups_(room.size()),
        room_(room.begin(), room.end()),
        moves_(groups_ * groups_),
        least_(groups_),
        before_(groups_) {
    group_of_.assign(cost.size() / groups_, -1);
  }

  // Into the group that the cheapest path of moves ends at.
  void Add(int row) {
    for (std::size_t g = 0; g < groups_; ++g) {
      least_[g] = Cost(row, g);
      before_[g] = -1;
    }
    // Bellman and Ford: moves may gain, no circle of them does.
    for (bool shorter = true; shorter;) {
      shorter = false;
      for (std::size_t from = 0; from < groups_; ++from) {
        if (room_[from] > 0 || least_[from] == kInfinity) continue;  // nobody need give way there
        for (std::size_t to = 0; to < groups_; ++to) {
          if (to == from) continue;
          const double there = least_[from] + Cheapest(from, to).first;
          if (!(there < least_[to]) || Passes(from, to)) continue;
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
    --room_[end];
    for (; before_[end] >= 0; end = U(before_[end])) Move(Cheapest(U(before_[end]), end).second, end);
    Move(row, end);
  }

  std::vector<int> Take() { return std::move(group_of_); }

 private:
  using Gain = std::pair<double, int>;  // what the move costs, who
  using Moves = std::priority_queue<Gain, std::vector<Gain>, std::greater<>>;

  double Cost(int row, std::size_t group) const { return cost_[U(row) * groups_ + group]; }

  // Whether the path to `from` leads through `to` already: only rounding makes such a circle.
  bool Passes(std::size_t from, std::size_t to) const {
    for (int g = static_cast<int>(from); g >= 0; g = before_[U(g)]) {
      if (U(g) == to) return true;
    }
    return false;
  }

  // Of those in `from`, whom it costs least to move; entries of those who left are dropped as they come up.
  Gain Cheapest(std::size_t from, std::size_t to) {
    Moves& moves = moves_[from * groups_ + to];
    while (!moves.empty() && group_of_[U(moves.top().second)] != static_cast<int>(from)) moves.pop();
    return moves.empty() ? Gain{kInfinity, -1} : moves.top();
  }

  void Move(int row, std::size_t to) {
    group_of_[U(row)] = static_cast<int>(to);
    for (std::size_t next = 0; next < groups_; ++next) {
      if (next != to && Cost(row, next) < kInfinity)
        moves_[to * groups_ + next].push({Cost(row, next) - Cost(row, to), row});
    }
  }

  std::span<const double> cost_;
  std::size_t groups_;
  std::vector<int> room_, group_of_;  // [groups], [rows]
  std::vector<Moves> moves_;          // [from, to]
  std::vector<double> least_;         // [groups] of the row that is being added
  std::vector<int> before_;           // [groups] on its path; -1 = the row itself
};

}  // namespace

std::vector<int> GroupedAssignment(std::span<const double> cost, std::span<const int> room) {
  BERTH_CHECK(!room.empty() && cost.size() % room.size() == 0, cost.size(), " costs, ", room.size(),
              " groups");
  Groups groups(cost, room);
  const int rows = static_cast<int>(cost.size() / room.size());
  for (int row = 0; row < rows; ++row) groups.Add(row);
  return groups.Take();
}

}  // namespace berth
