// The rows of `berth reproduce actions`: a property of real clusters, what policies may do with it, the
// specialists that were written for it, and what is measured.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth {

// A number of a run to be as small as possible. `key` as in --json, or two by '+'.
struct ActionMetric {
  const char* key;
  const char* name;  // with unit
  double scale;      // to that unit
};

struct Specialist {
  const char* spec;
  const char* parameters;  // that `berth tune` searches, by commas; "" = none
};

struct ActionRow {
  const char* name;  // of --only
  const char* title;
  const char* cluster;
  const char* workload;
  const char* clock;
  const char* features;   // "" = none
  const char* knowledge;  // of the policy and of the most that rules may have
  const char* actions;    // of the policy
  const char* training;   // further options of `berth train`, by blanks
  long long steps;
  const char* window;  // measured jobs
  ActionMetric metric;
  ActionMetric no_worse;  // key "" = nothing
  std::vector<Specialist> specialists;
};

std::span<const ActionRow> ActionRows();
// Registered rules that are run in every row whose knowledge allows them; of these the six best are shown.
std::span<const char* const> ActionRules();

}  // namespace berth
