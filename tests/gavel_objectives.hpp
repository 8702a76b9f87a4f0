// All of Gavel's objectives by name, for tests that walk them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "baselines/gavel/objective_list.hpp"

namespace berth::gavel {

struct NamedObjective {
  const char* name;
  ObjectiveInfo info;
};

inline std::vector<NamedObjective> NamedObjectives() {
#define BERTH_ROW(name, function) {#name, function()},
  return {BERTH_GAVEL_OBJECTIVES(BERTH_ROW)};
#undef BERTH_ROW
}

// The optimum where the reference stops short of it.
inline std::unique_ptr<Objective> MakeObjective(const ObjectiveInfo& info, bool warm) {
  Params params(Spec{}, info.params);
  ObjectiveOptions options;
  options.compat = false, options.warm = warm;
  return info.make(options, params);
}

// By which part of a promise x stays below it, at worst.
inline double ShortOf(const Problem& problem, const Promise& promise, const Allocation& x) {
  double worst = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < problem.key.size(); ++i) {
    double has = 0.0;
    for (std::size_t k = i * problem.workers.size(); k < (i + 1) * problem.workers.size(); ++k) {
      if (!promise.worth.empty()) has += promise.worth[k] * x[k];
      if (!promise.value.empty()) sum += promise.value[k] * x[k];
    }
    if (!promise.least.empty() && promise.least[i] > 0.0) worst = std::max(worst, 1.0 - has / promise.least[i]);
  }
  return promise.value.empty() ? worst : std::max(worst, 1.0 - sum / promise.sum);
}

}  // namespace berth::gavel
