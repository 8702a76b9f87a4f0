// The workloads of `reproduce shift`: one that is like those that the policies of data/policies/cluster were
// trained on, and others that differ from it in one respect.
#pragma once

#include <span>
#include <string>

#include "env/sim/scenario.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

struct Shift {
  const char* name;
  const char* workload;  // spec, without the number of jobs
  const char* cluster = "v100=8,p100=8,k80=8";
  double sigma = 0.0;         // of estimated run times; 0 = they are known
  const char* features = "";  // of the cluster
  Costs costs = {};
};
std::span<const Shift> Shifts();  // the first is the one without a shift

// Jobs 300 to 700 of 1,000, under a clock of 360 s.
PlannedWorkload WorkloadOf(const Shift& shift, Knowledge knowledge, std::uint64_t seed);

// Rules that need no training and are good at mean JCT; the first is what the guard falls back to.
struct ShiftPart {
  const char* title;
  const char* policy;  // PolicyShelf's
  Knowledge knowledge;
  std::span<const char* const> rules;
};
std::span<const ShiftPart> ShiftParts();

}  // namespace berth
