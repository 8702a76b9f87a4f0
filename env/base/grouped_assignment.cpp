#include "env/base/grouped_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::span<const int> GroupedAssignment::Solve(std::span<const double> cost, std::span<const int> members,
                                              std::span<const int> room) {
  BERTH_CHECK(!room.empty() && cost.size() == members.size() * room.size(), cost.size(), " costs, ",
              members.size(), " rows, ", room.size(), " groups");
  cost_ = cost;
  groups_ = room.size();
  room_.assign(room.begin(), room.end());
  moves_.resize(std::max(moves_.size(), groups_ * groups_));
  for (std::vector<Gain>& moves : moves_) moves.clear();
  least_.resize(groups_);
  before_.resize(groups_);
  in_.assign(cost.size(), 0);
  cheapest_.assign(groups_ * groups_, {kInfinity, -1});
  escape_.resize(groups_);
  changed_ = true;
  for (added_ = 1; U(added_) <= members.size(); ++added_) {
    for (int left = members[U(added_) - 1]; left > 0;) left -= Add(added_ - 1, left);
  }
  return in_;
}

std::span<const double> GroupedAssignment::Prices(std::span<const double> cost) {
  BERTH_CHECK(cost.size() == in_.size(), cost.size(), " costs, ", in_.size(), " solved");
  // p[from] - p[to] <= gap[from, to], or somebody would rather move.
  gap_.assign(groups_ * groups_, kInfinity);
  for (std::size_t first = 0; first < in_.size(); first += groups_) {
    const double* costs = cost.data() + first;
    for (std::size_t from = 0; from < groups_; ++from) {
      if (in_[first + from] == 0) continue;
      for (std::size_t to = 0; to < groups_; ++to) {
        double& gap = gap_[from * groups_ + to];
        gap = std::min(gap, costs[to] - costs[from]);
      }
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

// Of `members` of the row as many as go the same way, into the group that the cheapest path of moves ends at.
int GroupedAssignment::Add(int row, int members) {
  if (changed_) FindEscapes();
  const double* cost = cost_.data() + U(row) * groups_;
  double displacing = kInfinity;
  std::size_t end = groups_;
  for (std::size_t g = 0; g < groups_; ++g) {
    if (room_[g] == 0) {
      displacing = std::min(displacing, cost[g] + escape_[g]);
    } else if (end == groups_ || cost[g] < cost[end]) {
      end = g;
    }
  }
  // A path is added up in another order below, so who is not clearly better off where there is room looks.
  const bool clear = end < groups_ && cost[end] + 1e-9 * (1.0 + std::abs(cost[end])) < displacing;
  if (clear) {
    members = std::min(members, room_[end]);
    in_[U(row) * groups_ + end] += members;
  } else {
    members = 1;
    end = Displace(row);
  }
  room_[end] -= members;
  if (room_[end] == 0) Fill(end);
  return members;
}

// The row in, by the cheapest path of moves; the group where that takes a place.
std::size_t GroupedAssignment::Displace(int row) {
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
  std::size_t taken = groups_;
  for (std::size_t g = 0; g < groups_; ++g) {
    if (room_[g] > 0 && (taken == groups_ || least_[g] < least_[taken])) taken = g;
  }
  BERTH_CHECK(taken < groups_ && least_[taken] < kInfinity, "no room for row ", row);
  std::size_t end = taken;
  for (; before_[end] >= 0; end = U(before_[end])) {
    const std::size_t from = U(before_[end]);
    const int mover = cheapest_[from * groups_ + end].second;
    Leave(mover, from);
    Enter(mover, end);
  }
  Enter(row, end);
  return taken;
}

// Whether the path to `from` leads through `to` already: only rounding makes such a circle.
bool GroupedAssignment::Passes(std::size_t from, std::size_t to) const {
  for (int g = static_cast<int>(from); g >= 0; g = before_[U(g)]) {
    if (U(g) == to) return true;
  }
  return false;
}

// What it costs at least that a full group gives a place, by moves that end where there is room.
void GroupedAssignment::FindEscapes() {
  changed_ = false;
  for (std::size_t g = 0; g < groups_; ++g) escape_[g] = room_[g] > 0 ? 0.0 : kInfinity;
  bool shorter = true;
  for (std::size_t pass = 0; shorter && pass < groups_; ++pass) {
    shorter = false;
    for (std::size_t from = 0; from < groups_; ++from) {
      for (std::size_t to = 0; room_[from] == 0 && to < groups_; ++to) {
        const double by = cheapest_[from * groups_ + to].first + escape_[to];
        if (by < escape_[from]) escape_[from] = by, shorter = true;
      }
    }
  }
}

// Of those in a full group, whom it costs least to move; entries of rows that left are dropped as they come
// up.
void GroupedAssignment::FindCheapest(std::size_t from, std::size_t to) {
  std::vector<Gain>& moves = moves_[from * groups_ + to];
  while (!moves.empty() && in_[U(moves.front().second) * groups_ + from] == 0) {
    std::pop_heap(moves.begin(), moves.end(), std::greater<>());
    moves.pop_back();
  }
  cheapest_[from * groups_ + to] = moves.empty() ? Gain{kInfinity, -1} : moves.front();
  changed_ = true;
}

// A group has become full, and is from here on: who is there may have to give way.
void GroupedAssignment::Fill(std::size_t group) {
  changed_ = true;
  for (std::size_t to = 0; to < groups_; ++to) {
    if (to == group) continue;
    std::vector<Gain>& moves = moves_[group * groups_ + to];
    for (int row = 0; row < added_; ++row) {
      const double* cost = cost_.data() + U(row) * groups_;
      if (in_[U(row) * groups_ + group] > 0 && cost[to] < kInfinity)
        moves.emplace_back(cost[to] - cost[group], row);
    }
    std::make_heap(moves.begin(), moves.end(), std::greater<>());
    FindCheapest(group, to);
  }
}

// Of a full group.
void GroupedAssignment::Leave(int row, std::size_t from) {
  if (--in_[U(row) * groups_ + from] > 0) return;
  for (std::size_t to = 0; to < groups_; ++to) {
    if (cheapest_[from * groups_ + to].second == row) FindCheapest(from, to);
  }
}

void GroupedAssignment::Enter(int row, std::size_t group) {
  if (in_[U(row) * groups_ + group]++ > 0 || room_[group] > 0) return;
  const double* cost = cost_.data() + U(row) * groups_;
  for (std::size_t to = 0; to < groups_; ++to) {
    if (to == group || cost[to] == kInfinity) continue;
    std::vector<Gain>& moves = moves_[group * groups_ + to];
    const Gain gain{cost[to] - cost[group], row};
    moves.push_back(gain);
    std::push_heap(moves.begin(), moves.end(), std::greater<>());
    if (gain < cheapest_[group * groups_ + to]) {
      cheapest_[group * groups_ + to] = gain;
      changed_ = true;
    }
  }
}

}  // namespace berth
