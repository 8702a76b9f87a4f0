// How each policy of a golden file is checked. Adding a check is one function and one row in a table; another
// family of policies is another file with a table of its own, joined in gavel_golden.cpp.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"
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
  const char* name;                                               // in the file
  std::vector<GoldenMeasure> (*check)(const GoldenCase& golden);  // nullptr: not checked, for this reason:
  const char* reason = "";
  bool by_v100 = false;  // the reference reads the speeds of that type, by name
};

// The tables.
std::span<const GoldenPolicy> SingleJobGoldens();
std::span<const GoldenPolicy> IteratedGoldens();
std::span<const GoldenPolicy> PackedGoldens();

// GPU types are those of the instance's cluster_spec, by name as the reference sorts them; allocations have a
// column for each.
gavel::Problem ReadGoldenProblem(const Json& instance);
// How far x is from satisfying the base constraints.
double BaseViolation(const gavel::Problem& problem, const gavel::Allocation& x);

// What the checks share.
namespace golden {

using Measures = std::vector<GoldenMeasure>;

inline constexpr double kObjective = 1e-6, kConstraint = 1e-7;
inline constexpr double kShown = std::numeric_limits<double>::infinity();
inline constexpr double kNoAnswer = std::numeric_limits<double>::infinity();  // a value: nothing was found
inline constexpr LpMethod kMethods[] = {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding};

double Relative(double value, double expected);
gavel::Problem AsSeen(const GoldenCase& golden, bool aware);  // by a policy that may know of types, or not
// What a problem must be for a policy to answer it; std::out_of_range says what is not.
void CheckProblem(const gavel::Problem& problem);
// Row of the job with this id; std::out_of_range where none has it.
std::size_t JobRow(const gavel::Problem& problem, int id);
double Worst(const std::vector<double>& values, const std::vector<double>& expected);  // relative
double Optimum(const Json& policy);                          // the independent one, where the file has it
double Apart(const gavel::Allocation& x, const Json& rows);  // largest difference of a share
Measures Failed();
void Append(Measures& to, const Measures& more);

}  // namespace golden

}  // namespace berth
