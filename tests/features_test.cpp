// Features of a cluster: their texts, and failures with what they do to jobs.
#include <algorithm>
#include <string>

#include "env/features/failures/failures.hpp"
#include "env/features/power/power.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    ParseFeatures(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("features are read from their text and written back exactly") {
  const Features features = ParseFeatures("failures(mtbf_h=0.1,repair_h=3)");
  REQUIRE(features.Find<FailureSettings>() != nullptr);
  CHECK(features.Find<FailureSettings>()->mtbf_h == 0.1);
  CHECK(features.Find<PowerSettings>() == nullptr);
  const std::string text = ToString(features);
  CHECK(text.starts_with("failures(mtbf_h=0.1,repair_h=3,"));
  CHECK(ToString(ParseFeatures(text)) == text);
  CHECK(ToString(Features{}) == "");
  CHECK_FALSE(Features{}.any());
}

TEST_CASE("a wrong feature is named with the nearest right one") {
  CHECK(ErrorOf("failure(mtbf_h=1)").find("did you mean 'failures'") != std::string::npos);
  CHECK(ErrorOf("failures(mtbf=1)").find("did you mean 'mtbf_h'") != std::string::npos);
  CHECK(ErrorOf("failures;failures").find("named twice") != std::string::npos);
  CHECK(ErrorOf("failures(mtbf_h=often)").find("mtbf_h") != std::string::npos);
}

TEST_CASE("every feature lists itself with its settings") {
  for (const FeatureInfo& info : ListFeatures(ShippedFeatures())) {
    INFO(info.name);
    CHECK_FALSE(info.help.empty());
    CHECK(ParseFeatures(info.name).any());
  }
}

// One GPU that fails, one job: what it holds is what it makes, and what it loses is counted.
TEST_CASE("a job starts again after each failure, and its work is conserved") {
  for (const char* clock : {"event", "rounds(360)"}) {
    Scenario scenario = test::Tiny({{"a", 1}}, {{1.0}}, {{0, 20000.0}});
    scenario = WithClock(WithFeatures(scenario, ParseFeatures("failures(mtbf_h=4,repair_h=1)")),
                         Clock::Parse(clock));
    Simulator sim(scenario, {.keep_events = true});
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      if (sim.state().free_gpus[0] > 0 && !sim.state().waiting.empty()) decision.Start(0, 0);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
    }
    REQUIRE(sim.finished());
    const auto count = [&](EventKind kind) {
      return std::count_if(sim.events().begin(), sim.events().end(),
                           [&](const Event& e) { return e.kind == kind; });
    };
    CHECK(count(EventKind::kComplete) == 1);
    CHECK(sim.state().interruptions[0] == count(EventKind::kInterrupt));
    CHECK(count(EventKind::kInterrupt) > 0);
    CHECK(count(EventKind::kStart) == 1 + count(EventKind::kInterrupt));
    CHECK(sim.state().AttainedSeconds(0) == Approx(20000.0 + sim.state().lost_steps[0]));
  }
}

TEST_CASE("failures need a clock that they can happen under") {
  const Scenario scenario = test::Tiny({{"a", 1}}, {{1.0}}, {{0, 20.0}});
  CHECK_THROWS_AS(WithClock(WithFeatures(scenario, ParseFeatures("failures")), Clock::Parse("hpc")), Error);
}

}  // namespace
}  // namespace berth
