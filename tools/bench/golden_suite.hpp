// The runs behind the golden event logs (tests/golden/), and their signatures as one list and one number: a
// change that is to change no result leaves them as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/metrics.hpp"
#include "env/scenario.hpp"

namespace berth::bench {

// Random jobs of three types and gangs of 1, 2 and 4 over GPU types of 4, 5 and 4; times are multiples of 5 s
// and rates of powers of two, so that completions are exact. Some job types may share one GPU.
Scenario RandomScenario(std::uint64_t seed, int jobs, const Clock& clock);

std::vector<Clock> GoldenClocks();
Scenario GoldenScenario(const Clock& clock);
RunResult GoldenRun(const std::string& scheduler, const Clock& clock);  // with its events

struct GoldenSignature {
  std::string scheduler, clock;
  std::uint64_t signature;
};
// Every registered baseline under every clock, in the order of their table.
std::vector<GoldenSignature> GoldenSignatures();
std::uint64_t SuiteSignature(const std::vector<GoldenSignature>& list);  // of names, clocks and signatures

}  // namespace berth::bench
