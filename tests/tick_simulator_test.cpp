// The simulator against a second one that walks every second (tests/tick_simulator.cpp), on random scenarios
// whose times are whole seconds: the same completions under the same rules.
#include "tests/tick_simulator.hpp"

#include <vector>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/rule_run.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::TickRule;

// Three GPU types, one of which some jobs cannot use. Steps are multiples of 4 and rates 1, 2, 4: every run
// time alone is whole, and since no job changes its type, so is every time.
Scenario WholeSeconds(std::uint64_t seed, Clock clock) {
  Stream stream(seed, Purpose::kTest, Split::kEvaluate);
  const int types = 1 + static_cast<int>(stream.Below(3));
  std::vector<std::pair<std::string, int>> cluster;
  std::vector<std::vector<double>> rates(3, std::vector<double>(static_cast<std::size_t>(types)));
  for (int g = 0; g < types; ++g) {
    cluster.emplace_back(std::string(1, static_cast<char>('a' + g)), 4 + static_cast<int>(stream.Below(3)));
    for (auto& row : rates) {
      const std::uint32_t draw = stream.Below(4);  // the first type runs everything
      row[static_cast<std::size_t>(g)] = draw == 3 ? (g == 0 ? 1.0 : 0.0) : static_cast<double>(1u << draw);
    }
  }
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int j = 0; j < 30; ++j) {
    now += stream.Below(12);
    jobs.push_back(
        {now, 4.0 * (1 + stream.Below(40)), static_cast<int>(stream.Below(3)), 1 << stream.Below(3)});
  }
  ScenarioData data = test::TinyData(cluster, rates, jobs, clock);
  for (int j = 0; j < 30; ++j) data.jobs.weight.push_back(1.0 + stream.Below(3));
  if (seed % 2 == 1) data.costs = {2.0, 3.0, 50.0};
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("model: the simulator and a brute-force one complete every job at the same second") {
  for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 10.0}}) {
    for (TickRule rule : {TickRule::kStrict, TickRule::kOvertaking, TickRule::kPreemptive}) {
      int stops = 0;
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(clock.ToString(), static_cast<int>(rule), seed);
        const Scenario scenario = WholeSeconds(seed, clock);
        const test::RuleRun run = test::RunByRule(scenario, rule);
        REQUIRE(run.completion == test::TickSimulate(scenario, rule));
        stops += run.stops;
      }
      CHECK((stops > 0) == (rule == TickRule::kPreemptive));  // the comparison covers preemption
    }
  }
}

TEST_CASE("model: the brute-force simulator itself, by hand") {
  // rate 2: job 0 takes 10/2 = 5 s from 0; job 1 arrives at 1 and takes 8/2 = 4 s from 5.
  const Scenario event = test::Tiny({{"a", 1}}, {{2.0}}, {{0, 10}, {1, 8}});
  CHECK(test::TickSimulate(event, TickRule::kStrict) == std::vector<double>{5, 9});
  // rounds of 4 s: job 0 ends at 5, its GPU waits for 8; job 1 runs from 8 to 12.
  const Scenario rounds = test::Tiny({{"a", 1}}, {{2.0}}, {{0, 10}, {1, 8}}, {ClockKind::kRounds, 4.0});
  CHECK(test::TickSimulate(rounds, TickRule::kStrict) == std::vector<double>{5, 12});
  // Job 1 is heavier: it stops job 0 at 1 (8 of 10 steps left), runs 1..5; job 0 is held 2 + 3 s to 10, then
  // takes 4 s.
  ScenarioData data = test::TinyData({{"a", 1}}, {{2.0}}, {{0, 10}, {1, 8}});
  data.jobs.weight = {1, 5};
  data.costs = {2.0, 3.0, 0.0};
  CHECK(test::TickSimulate(Scenario(data), TickRule::kPreemptive) == std::vector<double>{14, 5});
}

}  // namespace berth
