#include "baselines/adaptive/sia_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth::sia {

std::vector<float> NormalisedGoodputs(std::span<const float> goodput,
                                      std::span<const Configuration> configurations) {
  if (goodput.size() != configurations.size())
    throw Error(Join("sia: goodput: expected an entry for each of ", configurations.size(),
                     " configurations, found ", goodput.size()));
  std::vector<float> row;
  std::vector<int> known;  // types with a valid configuration
  float worst = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < goodput.size(); ++k) {
    if (!std::isfinite(goodput[k]))
      throw Error(Join("sia: goodput of configuration ", k, ": expected a number, found ", goodput[k]));
    row.push_back(goodput[k] > 0.0f ? goodput[k] : kNoGoodput);
    if (goodput[k] > 0.0f) known.push_back(configurations[k].type);
    if (row[k] > kNoGoodput) worst = std::min(worst, row[k]);
  }
  // The published code takes the quotient in double precision and multiplies in single.
  const float scale = std::isinf(worst) ? 1.0f : static_cast<float>(1.0 / static_cast<double>(worst));
  for (std::size_t k = 0; k < row.size(); ++k) {
    row[k] = std::max(row[k] * scale, kNoGoodput);
    const Configuration& its = configurations[k];
    if (its.gpus == 1 && std::find(known.begin(), known.end(), its.type) == known.end()) row[k] = 1.0f;
  }
  return row;
}

double RestartFactor(double age, int restarts, double penalty) {
  if (age < penalty) return 1.0;
  return std::max(age - restarts * penalty, 0.0) / (age + penalty);
}

std::vector<double> Costs(std::span<const float> normalised, int previous, double restart_factor,
                          const CostRule& rule) {
  if (!(rule.power < 0.0)) throw Error(Join("sia: power: expected a number below 0, found ", rule.power));
  if (previous < -1 || previous >= static_cast<int>(normalised.size()))
    throw Error(Join("sia: previous: expected a configuration below ", normalised.size(), " or -1, found ",
                     previous));
  std::vector<double> costs;
  const auto factor = static_cast<float>(restart_factor);
  for (std::size_t k = 0; k < normalised.size(); ++k) {
    const bool moves = previous >= 0 && k != static_cast<std::size_t>(previous);
    const float kept = moves ? normalised[k] * factor : normalised[k];
    // A factor of 0, of a job that has lost its whole age to restarts: infinite in the published code too.
    const double cost = kept > 0.0f ? Pow(static_cast<double>(kept), rule.power) : rule.most;
    // The nearest number of two decimals to what single precision has of it.
    const float hundredths = std::nearbyint(static_cast<float>(cost) * 100.0f);
    costs.push_back(std::min(static_cast<double>(hundredths) / 100.0, rule.most));
  }
  return costs;
}

}  // namespace berth::sia
