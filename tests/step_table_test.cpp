// Step times of placements that nobody measured, by hand.
#include "env/features/goodput/step_table.hpp"
#include "tests/catch.hpp"

namespace berth {

// One GPU was measured with batches of 8 and 16, 4 nodes of one GPU with 8 and 12 alone: 2.0 and 2.4 s, so 2.8 at 16.
// 2 nodes are a third of the way, 1.4 + (2.8 - 1.4) / 3. No placement was measured beyond 16.
TEST_CASE("goodput: a shape's step times go on to the largest batch of any") {
  StepTable table;
  table.AddPlacement({1}, 8, {1.0, 1.0});
  table.AddPlacement({1}, 16, {1.4, 1.4});
  table.AddShape(4, 4, 8, {2.0, 1.0});
  table.AddShape(4, 4, 12, {2.4, 1.2});
  table.Finish();
  const std::vector<int> two{1, 1};
  CHECK(table.At(two, 8).step == Approx(4.0 / 3.0).epsilon(1e-14));
  CHECK(table.At(two, 16).step == Approx(1.4 + 1.4 / 3.0).epsilon(1e-14));
  CHECK(table.At(two, 16).compute == Approx(1.4).epsilon(1e-14));
  CHECK(table.At(two, 17).step == 0.0);
  CHECK(table.At(std::vector<int>{1}, 17).step == 0.0);
}

}  // namespace berth
