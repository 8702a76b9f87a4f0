#include "agents/search/optimiser.hpp"

#include <cmath>

namespace berth::search {

std::vector<double> Values(const Costs& costs) {
  std::vector<double> values;
  for (const std::vector<double>& cost : costs.of) {
    double sum = 0.0;
    for (std::size_t i = 0; i < cost.size(); ++i) sum += std::log(cost[i] / costs.reference[i]);
    values.push_back(sum / static_cast<double>(cost.size()));
  }
  return values;
}

}  // namespace berth::search
