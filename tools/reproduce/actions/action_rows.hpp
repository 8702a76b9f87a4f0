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

inline constexpr ActionMetric kMeanJct = {"mean_jct_s", "mean JCT h", 1.0 / 3600.0};

struct ActionRow {
  const char* name;  // of --only
  const char* title;
  const char* cluster = "v100=12/4,p100=12/4,k80=12/4";
  const char* workload = "synthetic(rate=0.8,jobs=1000,gangs=multi)";
  const char* clock = "rounds(360)";
  const char* features = "";         // "" = none
  const char* knowledge = "oracle";  // of the policy and of the most that rules may have
  const char* actions = "start";     // of the policy
  const char* training = "";         // further options of `berth train`, by blanks
  long long steps = 1'000'000;
  const char* window = "300:700";  // measured jobs
  const char* tuned_for = "jct";   // --reward of `berth tune`: the metric, where a run's jobs tell it
  ActionMetric metric = kMeanJct;
  ActionMetric no_worse = {"", "", 1.0};  // key "" = nothing
  std::vector<Specialist> specialists = {};
};

std::span<const ActionRow> ActionRows();
// Registered rules that are run in every row whose knowledge allows them; of these the six best are shown.
std::span<const char* const> ActionRules();

}  // namespace berth
