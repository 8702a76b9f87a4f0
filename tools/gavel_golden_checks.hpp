// How each policy of a golden file is checked. Adding a check is one function and one row in a table; another
// family of policies is another file with a table of its own, joined in gavel_golden.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "baselines/gavel/problem.hpp"
#include "tools/json.hpp"

namespace berth {

struct GoldenCase {
  const Json& instance;
  const Json& policy;  // the record of one policy of the instance
  gavel::Problem problem;
};

// One number that ought to be at most its tolerance; an infinite tolerance is shown and not held.
struct GoldenMeasure {
  std::string what;
  double value;
  double tolerance;
};

struct GoldenPolicy {
  const char* name;  // in the file
  std::vector<GoldenMeasure> (*check)(const GoldenCase& golden);  // nullptr: not checked, for this reason:
  const char* reason = "";
};

// The policies that run one job on a GPU.
std::span<const GoldenPolicy> SingleJobGoldens();

// The file's column order.
inline constexpr const char* kGoldenTypes[] = {"k80", "p100", "v100"};
gavel::Problem ReadGoldenProblem(const Json& instance);
// How far x is from satisfying the base constraints.
double BaseViolation(const gavel::Problem& problem, const gavel::Allocation& x);

}  // namespace berth
