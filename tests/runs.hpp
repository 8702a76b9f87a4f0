// Runs of schedulers in tests: a scheduler from its spec, a run of it, what it decided, means over
// replications.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"

namespace berth::test {

// Of baselines/ alone: those who test frozen policies join the tables themselves.
std::unique_ptr<Scheduler> Make(const std::string& spec);

// Every objective of gavel in every form that it has: aware, agnostic, packed.
std::vector<std::string> GavelSpecs();

// All jobs, events kept.
RunResult RunOf(const std::string& spec, const Scenario& scenario);

// To the end with every rule of both checkers (tests/audit.hpp) required before and after every decision; the
// simulator as it then stands.
Simulator RunAudited(const std::string& spec, const Scenario& scenario);

// What was decided: "10 start 2@0" is job 2 on type 0 at 10 s; "20 reject 3".
using Log = std::vector<std::string>;
Log Decisions(const std::string& spec, const Scenario& scenario);

// [J] GPUs held after the first decision.
std::vector<int> FirstWidths(const std::string& spec, const Scenario& scenario);

// [J] s, kNever where rejected.
std::vector<double> Ends(const std::string& spec, const Scenario& scenario);

// Mean of `one(seed)` over seeds 1..n, and half its 99% interval (Student's t for n = 20 and 30
// replications).
struct Replicated {
  double mean = 0.0, half = 0.0;
};
Replicated Replicate(int n, const std::function<double(std::uint64_t)>& one);

}  // namespace berth::test
