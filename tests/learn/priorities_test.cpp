// Prioritised replay: the sum tree against prefix sums, proportions and weights against hand-worked cases.
#include "agents/dqn/priorities.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("sum tree: the leaf is the one that prefix sums name") {
  Stream draw(1, Purpose::kTest);
  for (const std::size_t size : {1U, 2U, 7U, 64U, 100U}) {
    CAPTURE(size);
    SumTree tree(size);
    // Small whole numbers, so that both ways of summing are exact; a third of them 0.
    std::vector<double> value(size, 0.0);
    for (int round = 0; round < 300; ++round) {
      const std::size_t leaf = draw.Below(static_cast<std::uint32_t>(size));
      value[leaf] = draw.Below(3) == 0 ? 0.0 : static_cast<double>(1 + draw.Below(9));
      tree.Set(leaf, value[leaf]);
      double total = 0.0;
      for (const double v : value) total += v;
      REQUIRE(tree.total() == total);
      if (total == 0.0) continue;
      const double mass = draw.Uniform() * total;
      double before = 0.0;
      std::size_t expected = 0;
      while (before + value[expected] <= mass) before += value[expected++];
      REQUIRE(tree.Find(mass) == expected);
      REQUIRE(value[tree.Find(total)] > 0.0);  // beyond the end: still one that may be drawn
    }
  }
}

TEST_CASE("prioritised replay: probabilities and weights of a case worked out by hand") {
  // alpha 0.5; errors 1, 4, 9, 16 give p^alpha = 1, 2, 3, 4 of 10 (epsilon 1e-6 aside). beta 0.5, N = 4:
  // w = (4 P)^-1/2 = 0.4^-1/2, 0.8^-1/2, 1.2^-1/2, 1.6^-1/2.
  Priorities priorities(6, 0.5);
  for (const std::size_t step : {0U, 1U, 3U, 4U}) priorities.Add(step);
  const std::vector<std::int64_t> steps = {0, 1, 3, 4};
  CHECK(priorities.Probability(3) == Approx(0.25));  // new ones alike
  priorities.Update(steps, std::vector<float>{1.0F, -4.0F, 9.0F, -16.0F});
  const double expected[] = {0.1, 0.2, 0.3, 0.4};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(priorities.Probability(static_cast<std::size_t>(steps[k])) == Approx(expected[k]).epsilon(1e-5));
  }
  CHECK(priorities.count() == 4);

  // Ten draws stand in ten equal parts of the mass: each step comes exactly as often as its tenths say.
  Stream draw(2, Purpose::kTest);
  std::vector<std::int64_t> drawn(10);
  std::vector<float> weight(10);
  for (int round = 0; round < 50; ++round) {
    // Epsilon moves the borders by 1e-6 of a part: never met in 50 rounds of these draws.
    priorities.Draw(draw, 0.5, drawn, weight);
    for (std::size_t k = 0; k < 4; ++k) {
      REQUIRE(std::count(drawn.begin(), drawn.end(), steps[k]) == static_cast<int>(k) + 1);
    }
    for (std::size_t b = 0; b < drawn.size(); ++b) {
      const auto k =
          static_cast<std::size_t>(std::find(steps.begin(), steps.end(), drawn[b]) - steps.begin());
      // Over the greatest weight, that of the rarest step: sqrt(0.4 / (4 P)).
      REQUIRE(weight[b] == Approx(std::sqrt(0.1 / expected[k])).epsilon(1e-4));
    }
  }
  // One draw at a time is in proportion too. 20,000 draws: deviations of a share are at most 0.0035.
  std::vector<int> count(6, 0);
  for (int k = 0; k < 20000; ++k) {
    priorities.Draw(draw, 0.0, std::span(drawn).first(1), std::span(weight).first(1));
    REQUIRE(weight[0] == 1.0F);
    ++count[static_cast<std::size_t>(drawn[0])];
  }
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(count[static_cast<std::size_t>(steps[k])] / 20000.0 == Approx(expected[k]).margin(5 * 0.0035));
  }
  CHECK(count[2] + count[5] == 0);

  // A new step has the greatest priority so far, 4; one that is removed is not drawn.
  priorities.Add(2);
  priorities.Remove(4);
  CHECK(priorities.Probability(2) == Approx(4.0 / 10.0).epsilon(1e-5));
  CHECK(priorities.Probability(4) == 0.0);
  CHECK(priorities.count() == 4);
}

TEST_CASE("prioritised replay: errors that are not finite leave a tree that can be drawn from") {
  Priorities priorities(4, 1.0);
  for (const std::size_t step : {0U, 1U, 2U}) priorities.Add(step);
  const float infinity = std::numeric_limits<float>::infinity();
  priorities.Update(std::vector<std::int64_t>{0, 1, 2}, std::vector<float>{3.0F, std::nanf(""), -infinity});
  // The greatest so far is 3: all three alike.
  for (const std::size_t step : {0U, 1U, 2U}) CHECK(priorities.Probability(step) == Approx(1.0 / 3.0));
  CHECK(priorities.count() == 3);
  priorities.Add(3);
  CHECK(priorities.Probability(3) == Approx(0.25));
  Stream draw(5, Purpose::kTest);
  std::vector<std::int64_t> drawn(4);
  std::vector<float> weight(4);
  priorities.Draw(draw, 0.4, drawn, weight);
  for (const float w : weight) CHECK(w == Approx(1.0));
}

TEST_CASE("prioritised replay: read back, it draws the same") {
  const test::TemporaryFolder folder;
  Priorities priorities(50, 0.6), other(50, 0.6);
  Stream draw(3, Purpose::kTest);
  std::vector<std::int64_t> drawn(8), again(8);
  std::vector<float> weight(8), error(8), weight_again(8);
  for (std::size_t step = 0; step < 37; ++step) priorities.Add(step);
  for (int round = 0; round < 20; ++round) {
    priorities.Draw(draw, 0.4, drawn, weight);
    for (float& e : error) e = static_cast<float>(draw.Normal());
    priorities.Update(drawn, error);
  }
  priorities.Add(44);
  priorities.Update(std::vector<std::int64_t>{44, 1}, std::vector<float>{9.0F, 1.0F});
  priorities.Remove(44);
  {
    h5::Writer out(folder / "p.h5", "test", 1);
    priorities.Save(&out, "replay");
    out.Commit();
  }
  other.Add(44);
  other.Load(h5::Reader(folder / "p.h5", "test", 1), "replay");
  CHECK(other.count() == 37);
  Stream a(4, Purpose::kTest), b(4, Purpose::kTest);
  priorities.Draw(a, 0.4, drawn, weight);
  other.Draw(b, 0.4, again, weight_again);
  CHECK(drawn == again);
  CHECK(weight == weight_again);
  // The greatest so far is restored too: 9^0.6 of step 44, which nobody holds any more.
  CHECK(other.Probability(44) == 0.0);
  priorities.Add(45);
  other.Add(45);
  CHECK(other.Probability(45) == priorities.Probability(45));
  CHECK(other.Probability(45) > 2.0 * other.Probability(1));
}

}  // namespace berth
