// The assignment to groups against the plain one with a column for every place.
#include "env/grouped_assignment.hpp"

#include <limits>
#include <vector>

#include "baselines/cheapest_assignment.hpp"
#include "env/index.hpp"
#include "env/rng.hpp"
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

    const std::span<const int> found = solver.Solve(instance.cost, instance.room);
    REQUIRE(found.size() == U(instance.rows));
    std::vector<int> used(groups, 0);
    double sum = 0.0;
    for (int row = 0; row < instance.rows; ++row) {
      ++used.at(U(found[U(row)]));
      sum += instance.cost[U(row) * groups + U(found[U(row)])];
    }
    INFO("round " << round);
    CHECK(sum == Approx(expected).epsilon(1e-12).margin(1e-9));
    for (std::size_t g = 0; g < groups; ++g) CHECK(used[g] <= instance.room[g]);
  }
}

}  // namespace berth
