// A short run of the campaign (differential/README.md): all pairs of features, and the model on as many more.
#include "tests/differential/differential.hpp"

#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"

namespace berth {

TEST_CASE("differential: the simulator and the slow model agree on random scenarios, event by event", "[features]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  differential::Tally tally;
  for (std::int64_t index = 0; index < 2000; ++index) {
    const std::string what = differential::CheckScenario(/*seed=*/7, index, tally);
    if (!what.empty()) FAIL(what);
  }
  // That it reaches what it is for.
  CHECK(tally.modelled > 1000);
  CHECK(tally.events > 40'000);
  CHECK(tally.illegal > 10'000);
  CHECK(tally.unfinished < 400);
  CHECK(tally.with.size() == 15);
  for (const auto& [feature, count] : tally.with) {
    CAPTURE(feature);
    CHECK(count > 100);
  }
}

}  // namespace berth
