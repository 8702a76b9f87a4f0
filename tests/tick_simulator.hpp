// A second simulator, made to be obvious rather than fast: it walks every second and knows nothing of
// env/sim/core.cpp. All times must be whole seconds, or it says so.
#pragma once

#include <map>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth::test {

// What a rule sees of one job in the system.
struct TickJob {
  int index;
  int gang;
  int on;    // GPU type, -1 = waiting
  int last;  // type of its last run, -1 = never ran
  double weight;
  std::vector<double> rates;  // [G] steps/s, 0 = cannot run
};

// Simple scheduling rules, shared by both simulators: jobs in arrival order and GPUs per type give job ->
// type.
enum class TickRule {
  kStrict,  // in order of arrival, on the first type with room; the first that does not fit blocks the rest
  kOvertaking,  // the same, but jobs that do not fit are passed over
  kPreemptive,  // heaviest weight first, from an empty cluster; a job stays on the type of its first run
};
std::map<int, int> Plan(TickRule rule, const std::vector<TickJob>& jobs, const std::vector<int>& gpus);

// Completion time of every job, s. Clocks event and rounds; costs of stopping are respected.
std::vector<double> TickSimulate(const Scenario& scenario, TickRule rule);

}  // namespace berth::test
