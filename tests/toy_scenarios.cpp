#include "tests/toy_scenarios.hpp"

#include "tests/tiny.hpp"

namespace berth::test {
namespace {

const std::vector<std::pair<std::string, int>> kTypes = {{"v100", 4}, {"p100", 5}, {"k80", 4}};
const std::vector<std::vector<double>> kRates = {{4.0, 2.0, 1.0}, {2.0, 2.0, 0.5}, {1.0, 2.0, 0.0}};

}  // namespace

std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(Clock clock) {
  const std::vector<TinyJob> at_once = {{0, 100, 0, 4}, {0, 40, 1, 1}, {0, 40, 1, 1},
                                        {0, 300, 2, 2}, {0, 10, 0, 1}, {0, 80, 0, 4}};
  return {
      {"no job", Tiny(kTypes, kRates, {}, clock)},
      {"one job", Tiny(kTypes, kRates, {{3, 100, 2, 2}}, clock)},
      {"all at once", Tiny(kTypes, kRates, at_once, clock)},
      {"one type", Tiny({{"v100", 4}}, {{2.0}, {1.0}, {0.5}}, at_once, clock)},
      {"one GPU", Tiny({{"v100", 1}}, {{2.0}}, {{0, 50}, {0, 20}, {5, 20}, {400, 30}}, clock)},
  };
}

std::vector<Clock> AllClocks() {
  return {{ClockKind::kEvent},
          {ClockKind::kRounds, 60.0},
          {ClockKind::kReferenceRounds, 60.0},
          {ClockKind::kHpc}};
}

}  // namespace berth::test
