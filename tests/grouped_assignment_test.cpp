// The assignment to groups against the plain one with a column for every place, its prices
// against the duals of the linear program.
#include "env/base/grouped_assignment.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "baselines/cheapest_assignment.hpp"
#include "baselines/lp.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

struct Instance {
  std::vector<double> cost;  // [rows, groups]
  std::vector<int> room;
  int rows = 0;
};

// With ties, places that a row cannot have, and now and then no room but in the last group.
Instance Random(std::uint32_t round) {
  Stream random(77, Purpose::kTest, Split::kTrain, round);
  Instance made;
  made.rows = 1 + static_cast<int>(random.Below(30));
  const int groups = 1 + static_cast<int>(random.Below(5));
  for (int g = 0; g + 1 < groups; ++g) made.room.push_back(static_cast<int>(random.Below(9)));
  made.room.push_back(made.rows);
  for (int row = 0; row < made.rows; ++row) {
    for (int g = 0; g < groups; ++g) {
      const bool never = g + 1 < groups && random.Below(6) == 0;
      const double cost =
          random.Below(3) == 0 ? static_cast<double>(random.Below(3)) : random.Uniform(-5.0, 5.0);
      made.cost.push_back(never ? std::numeric_limits<double>::infinity() : cost);
    }
  }
  return made;
}

// Rows that only the first two groups take, and these have no more room; the other rows may go anywhere, that
// is into the last two. So nothing bounds the price of the first two groups, and something that of the third.
Instance Cramped(std::uint32_t round) {
  Stream random(78, Purpose::kTest, Split::kTrain, round);
  Instance made;
  const int bound = 1 + static_cast<int>(random.Below(8)), others = 1 + static_cast<int>(random.Below(8));
  const int first = static_cast<int>(random.Below(static_cast<std::uint32_t>(bound) + 1));
  made.rows = bound + others;
  made.room = {first, bound - first, static_cast<int>(random.Below(5)), others};
  for (int row = 0; row < made.rows; ++row) {
    for (int g = 0; g < 4; ++g) {
      const bool never = row < bound && g >= 2;
      made.cost.push_back(never ? std::numeric_limits<double>::infinity() : random.Uniform(-5.0, 5.0));
    }
  }
  return made;
}

double Cost(const Instance& instance, std::span<const int> chosen) {
  double sum = 0.0;
  for (int row = 0; row < instance.rows; ++row)
    sum += instance.cost[U(row) * instance.room.size() + U(chosen[U(row)])];
  return sum;
}

// The optimal duals of the program min cost.x, rows sum to 1 (dual u), groups to at most their room (dual
// -p): u[row] - p[g] <= cost[row, g], p >= 0, sum of u - room.p = the least cost. Columns are p, then u.
LpModel OptimalDuals(const Instance& instance, double least_cost) {
  const std::size_t groups = instance.room.size();
  LpModel model;
  for (std::size_t g = 0; g < groups; ++g) model.AddColumn(0.0, 0.0, kLpInfinity);
  for (int row = 0; row < instance.rows; ++row) model.AddColumn(0.0, -kLpInfinity, kLpInfinity);
  const auto u = [&](int row) { return static_cast<int>(groups) + row; };
  for (int row = 0; row < instance.rows; ++row) {
    for (std::size_t g = 0; g < groups; ++g) {
      const double cost = instance.cost[U(row) * groups + g];
      if (cost > 1e300) continue;
      model.AddEntry(u(row), 1.0), model.AddEntry(static_cast<int>(g), -1.0);
      model.EndRow(-kLpInfinity, cost);
    }
  }
  for (int row = 0; row < instance.rows; ++row) model.AddEntry(u(row), 1.0);
  for (std::size_t g = 0; g < groups; ++g) model.AddEntry(static_cast<int>(g), -1.0 * instance.room[g]);
  model.EndRow(least_cost, least_cost);
  return model;
}

// The lowest or the highest value of a column; infinite where there is none.
double Extreme(LpSolver& solver, LpModel model, std::size_t column, bool highest) {
  model.cost[column] = 1.0;
  model.maximize = highest;
  LpSolution solution;
  const LpStatus status = solver.Solve(model, LpMethod::kSimplex, solution);
  if (status == LpStatus::kUnbounded) return kLpInfinity;
  REQUIRE(status == LpStatus::kOptimal);
  return solution.objective;
}

// The solver is right to 1e-7; a price is a sum of a few of its bounds.
constexpr double kSolverTolerance = 1e-6;

// Whether the prices are the middle between the two, or the lowest beside those where nothing bounds them.
// Returns how many nothing bounds.
int CheckMiddle(LpSolver& lp, const Instance& instance, double least_cost, std::span<const double> prices) {
  const std::size_t groups = instance.room.size();
  const LpModel duals = OptimalDuals(instance, least_cost);
  LpModel beside = duals;
  std::vector<std::size_t> unbounded;
  for (std::size_t g = 0; g < groups; ++g) {
    const double low = Extreme(lp, duals, g, false), high = Extreme(lp, duals, g, true);
    CAPTURE(g, low, high);
    if (high == kLpInfinity) {
      unbounded.push_back(g);
      continue;
    }
    CHECK(prices[g] == Approx(0.5 * (low + high)).margin(kSolverTolerance));
    beside.lower[g] = std::max(0.0, prices[g] - 1e-8), beside.upper[g] = prices[g] + 1e-8;
  }
  for (std::size_t g : unbounded) {
    CAPTURE(g);
    CHECK(prices[g] == Approx(Extreme(lp, beside, g, false)).margin(kSolverTolerance));
  }
  return static_cast<int>(unbounded.size());
}

// Complementary slackness: no price where room is left, nobody would rather be elsewhere.
void CheckSlackness(const Instance& instance, std::span<const int> chosen, std::span<const double> prices) {
  const std::size_t groups = instance.room.size();
  std::vector<int> left = instance.room;
  for (int group : chosen) --left[U(group)];
  for (std::size_t g = 0; g < groups; ++g) {
    CHECK(prices[g] >= 0.0);
    if (left[g] > 0) CHECK(prices[g] == 0.0);
  }
  for (int row = 0; row < instance.rows; ++row) {
    const double* cost = instance.cost.data() + U(row) * groups;
    const std::size_t here = U(chosen[U(row)]);
    for (std::size_t g = 0; g < groups; ++g) CHECK(cost[here] + prices[here] <= cost[g] + prices[g] + 1e-12);
  }
}

// [rows] the group of each, of rows of one member.
std::vector<int> GroupOfRows(GroupedAssignment& solver, const Instance& instance) {
  const std::vector<int> one(U(instance.rows), 1);
  const std::span<const int> in = solver.Solve(instance.cost, one, instance.room);
  std::vector<int> group;
  for (std::size_t cell = 0; cell < in.size(); ++cell) {
    if (in[cell] == 1) group.push_back(static_cast<int>(cell % instance.room.size()));
  }
  return group;
}

}  // namespace

TEST_CASE("grouped assignment: as cheap as with a column for every place", "[baselines]") {
  GroupedAssignment solver;
  for (std::uint32_t round = 0; round < 300; ++round) {
    const Instance instance = Random(round);
    const std::size_t groups = instance.room.size();
    std::vector<double> written;
    int columns = 0;
    for (int row = 0; row < instance.rows; ++row) {
      columns = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        const double cost = instance.cost[U(row) * groups + g];
        for (int k = 0; k < instance.room[g]; ++k, ++columns)
          written.push_back(cost < 1e300 ? cost : 1e6);  // dearer than any whole assignment without it
      }
    }
    double expected = 0.0;
    const std::vector<int> plain = CheapestAssignment(written, instance.rows, columns);
    for (int row = 0; row < instance.rows; ++row) expected += written[U(row * columns + plain[U(row)])];

    const std::vector<int> found = GroupOfRows(solver, instance);
    REQUIRE(found.size() == U(instance.rows));
    std::vector<int> used(groups, 0);
    for (int row = 0; row < instance.rows; ++row) ++used.at(U(found[U(row)]));
    INFO("round " << round);
    CHECK(Cost(instance, found) == Approx(expected).epsilon(1e-12).margin(1e-9));
    for (std::size_t g = 0; g < groups; ++g) CHECK(used[g] <= instance.room[g]);
  }
}

TEST_CASE("grouped assignment: prices are duals, whatever the order of the rows", "[baselines]") {
  GroupedAssignment solver;
  for (std::uint32_t round = 0; round < 600; ++round) {
    const Instance instance = round % 3 == 0 ? Cramped(round) : Random(round);
    const std::size_t groups = instance.room.size();
    INFO("round " << round);
    const std::vector<int> chosen = GroupOfRows(solver, instance);
    const std::span<const double> found = solver.Prices(instance.cost);
    CheckSlackness(instance, chosen, found);
    const std::vector<double> prices(found.begin(), found.end());
    Instance turned = instance;  // the last row first
    for (int row = 0; row < instance.rows; ++row) {
      for (std::size_t g = 0; g < groups; ++g)
        turned.cost[U(row) * groups + g] = instance.cost[U(instance.rows - 1 - row) * groups + g];
    }
    GroupOfRows(solver, turned);
    const std::span<const double> again = solver.Prices(turned.cost);
    for (std::size_t g = 0; g < groups; ++g) CHECK(again[g] == Approx(prices[g]).epsilon(0).margin(1e-12));
  }
}

TEST_CASE("grouped assignment: prices are the middle of all duals", "[baselines]") {
  GroupedAssignment solver;
  LpSolver lp;
  int unbounded = 0, bounded = 0;
  for (std::uint32_t round = 0; round < 120; ++round) {
    const Instance instance = round % 3 == 0 ? Cramped(round) : Random(round);
    INFO("round " << round);
    const double least_cost = Cost(instance, GroupOfRows(solver, instance));
    const int without = CheckMiddle(lp, instance, least_cost, solver.Prices(instance.cost));
    unbounded += without, bounded += static_cast<int>(instance.room.size()) - without;
  }
  CHECK(unbounded > 50);  // both kinds occur
  CHECK(bounded > 200);
}

TEST_CASE("grouped assignment: a row of several members is as many rows of one", "[baselines]") {
  GroupedAssignment solver;
  for (std::uint32_t round = 0; round < 600; ++round) {
    Instance rows = Random(round), single;
    const std::size_t groups = rows.room.size();
    Stream random(79, Purpose::kTest, Split::kTrain, round);
    std::vector<int> members;
    for (int row = 0; row < rows.rows; ++row) {
      members.push_back(1 + static_cast<int>(random.Below(5)));
      single.rows += members.back();
      for (int k = 0; k < members.back(); ++k) {
        const auto first = rows.cost.begin() + row * static_cast<int>(groups);
        single.cost.insert(single.cost.end(), first, first + static_cast<int>(groups));
      }
    }
    rows.room.back() = single.rows;
    single.room = rows.room;
    std::vector<int> expected(rows.cost.size(), 0);
    const std::vector<int> chosen = GroupOfRows(solver, single);
    for (std::size_t row = 0, member = 0; row < members.size(); ++row) {
      for (int k = 0; k < members[row]; ++k, ++member) ++expected[row * groups + U(chosen[member])];
    }
    const std::span<const double> of_single = solver.Prices(single.cost);
    const std::vector<double> prices(of_single.begin(), of_single.end());
    INFO("round " << round);
    const std::span<const int> in = solver.Solve(rows.cost, members, rows.room);
    CHECK(std::equal(in.begin(), in.end(), expected.begin(), expected.end()));
    const std::span<const double> found = solver.Prices(rows.cost);
    CHECK(std::equal(found.begin(), found.end(), prices.begin(), prices.end()));
  }
}

// Room 1 and 5. A row of costs 1 and 3 fills group 0 and stays there up to a price of 2: the middle is 1.
// With a second row, of costs 0 and 7, the first has to move, to which it takes a price of at least 2, and
// the second stays up to 7: the middle is 4.5.
TEST_CASE("grouped assignment: prices by hand", "[baselines]") {
  GroupedAssignment solver;
  const std::vector<int> room = {1, 5};
  const std::vector<double> one = {1.0, 3.0}, two = {1.0, 3.0, 0.0, 7.0};
  CHECK(solver.Solve(one, std::vector<int>{1}, room)[0] == 1);
  CHECK(solver.Prices(one)[0] == 1.0);
  CHECK(solver.Prices(one)[1] == 0.0);
  const std::span<const int> in = solver.Solve(two, std::vector<int>{1, 1}, room);
  CHECK(in[1] == 1);
  CHECK(in[2] == 1);
  CHECK(solver.Prices(two)[0] == 4.5);
  CHECK(solver.Prices(two)[1] == 0.0);
}

}  // namespace berth
