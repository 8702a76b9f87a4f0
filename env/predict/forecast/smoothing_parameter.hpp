// A smoothing parameter in [0, 1] that is given, or fitted by the past: "0.3" or "fit".
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "env/base/spec.hpp"

namespace berth {

// NaN where it is to be fitted. Throws Error.
inline double SmoothingParameter(Params& params, std::string_view name) {
  if (params.Text(name) == "fit") return std::numeric_limits<double>::quiet_NaN();
  return params.Number(name, 0.0, 1.0);
}

// Calls `use` with the parameter, or with each of the candidates where it is to be fitted.
template <class Candidates, class Use>
void ForEachCandidate(double given, const Candidates& candidates, const Use& use) {
  if (!std::isnan(given)) return use(given);
  for (double candidate : candidates) use(candidate);
}

}  // namespace berth
