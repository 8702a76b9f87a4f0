// The runs behind the golden event logs (tests/golden/), and their signatures as one list and one number: a
// change that is to change no result leaves them as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"

namespace berth::bench {

// Random jobs of three types and gangs of 1, 2 and 4 over GPU types of 4, 5 and 4; times are multiples of 5 s
// and rates of powers of two, so that completions are exact. Some job types may share one GPU.
Scenario RandomScenario(std::uint64_t seed, int jobs, const Clock& clock);

// The same jobs, of three tenants of weights 1, 2 and 3, three of four with a deadline: half, one and a half
// or four times as long after their arrival as they take alone, so that some cannot be met.
Scenario TenantScenario(std::uint64_t seed, int jobs, const Clock& clock);

std::vector<Clock> GoldenClocks();
Scenario GoldenScenario(const Clock& clock);
Scenario GoldenTenantScenario(const Clock& clock);
// A run of a scheduler, with its events.
RunResult GoldenRun(const std::string& scheduler, const Scenario& scenario);

struct GoldenSignature {
  std::string scheduler, clock;
  std::uint64_t signature;
};
// Every registered baseline on the GoldenScenario of every clock, in the order of their table.
std::vector<GoldenSignature> GoldenSignatures();
std::uint64_t SuiteSignature(const std::vector<GoldenSignature>& list);  // of names, clocks and signatures

}  // namespace berth::bench
