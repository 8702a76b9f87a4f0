// The assignment problem with few kinds of columns: minimum cost where every member of every row goes to one
// of some groups, each with room for so many.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace berth {

// Thread rule: one thread at a time. Memory is kept from one solve to the next.
class GroupedAssignment {
 public:
  // The cheapest way to give each of `members` [rows] of a row a group; cost [rows, groups] of one member,
  // infinite where it cannot go; room [groups] of sum >= the members. They come one after the other, each by
  // a shortest path of moves between groups (successive shortest paths: Ahuja, Magnanti and Orlin 1993,
  // section 9.7), exact up to rounding: O(members groups (groups^2 + log rows)). Equal costs: what came first
  // stays. [rows, groups] members of the row in the group, valid until the next solve.
  std::span<const int> Solve(std::span<const double> cost, std::span<const int> members,
                             std::span<const int> room);

  // After Solve with the same `cost`: what a place in each group costs others, the dual prices of its room
  // (the same book, section 9.4): p >= 0, p = 0 where room is left, and cost + p of a row's group is the
  // least over groups. Of all such prices, the middle between the lowest and the highest of each group;
  // where nothing bounds it, the lowest beside the others' middles. [groups], valid until the next solve.
  std::span<const double> Prices(std::span<const double> cost);

 private:
  using Gain = std::pair<double, int>;  // what the move costs, which row's
  int Add(int row, int members);
  std::size_t Displace(int row);
  bool Passes(std::size_t from, std::size_t to) const;
  void FindEscapes();
  void FindCheapest(std::size_t from, std::size_t to);
  void Fill(std::size_t group);
  void Leave(int row, std::size_t from);
  void Enter(int row, std::size_t group);
  void Raise();

  std::span<const double> cost_;  // during Solve
  std::size_t groups_ = 0;
  int added_ = 0;                         // rows, with the one that is being added
  bool changed_ = false;                  // since FindEscapes
  std::vector<int> room_, in_;            // [groups], [rows, groups] members
  std::vector<std::vector<Gain>> moves_;  // [from, to] heaps of full groups, the cheapest first
  std::vector<Gain> cheapest_;            // [from, to] of full groups: the first of those; else infinite
  std::vector<double> escape_;            // [groups] what a place there costs others, as far as is known
  std::vector<double> least_;             // [groups] of the row that is being added
  std::vector<int> before_;               // [groups] on its path; -1 = the row itself
  std::vector<double> gap_, low_, high_;  // [from, to], [groups] twice: of Prices
};

}  // namespace berth
