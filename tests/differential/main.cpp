// berth_differential: see tests/numbered_cases.hpp.
#include <iostream>

#include "tests/differential/differential.hpp"
#include "tests/numbered_cases.hpp"

int main(int argc, char** argv) {
  berth::differential::Tally tally;
  const auto ends = [&](int failed) {
    std::cout << tally.scenarios << " scenarios, " << tally.modelled << " against the model, " << tally.decisions
              << " decisions, " << tally.events << " events, " << tally.illegal << " commands refused, " << tally.unfinished
              << " cut, " << failed << " differ\n";
    for (const auto& [name, count] : tally.with) std::cout << "  " << name << ": " << count << '\n';
    for (const std::string& pair : berth::differential::NeverTogether(tally)) std::cout << "  never: " << pair << '\n';
    for (const auto& [why, count] : tally.refused) std::cout << "  not made " << count << " times: " << why << '\n';
  };
  return berth::test::RunNumberedCases(
      argc, argv, "berth_differential",
      [&](std::uint64_t seed, std::int64_t index) { return berth::differential::CheckScenario(seed, index, tally); }, ends);
}
