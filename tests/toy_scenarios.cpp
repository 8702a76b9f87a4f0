#include "tests/toy_scenarios.hpp"

#include "tools/scheduler_checks.hpp"

namespace berth::test {

std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(Clock clock) {
  return berth::ExtremeScenarios(clock);
}

std::vector<Clock> AllClocks() {
  return berth::AllClocks();
}

}  // namespace berth::test
