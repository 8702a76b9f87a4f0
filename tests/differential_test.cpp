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
  const std::vector<std::string> never = differential::NeverTogether(tally);
  CHECK(never == std::vector<std::string>{"partitions;goodput"});  // they exclude each other
}

// A job on 2 GPUs has progressed from 24 s on and is to save after 35 s of that, at 59 s. A resize at 57 s costs 8 s: 2 s of
// progress are left from 65 s on. Another at 58 s has it progress from 73 s on, so it saves at 75 s; it did at 82 s.
TEST_CASE("differential: a resize while another is paid for counts progress alone towards the next save", "[features]") {
  differential::Tally tally;
  CHECK(differential::CheckScenario(/*seed=*/0, /*index=*/12313, tally) == "");
  CHECK(differential::CheckScenario(/*seed=*/0, /*index=*/39547, tally) == "");
}

}  // namespace berth
