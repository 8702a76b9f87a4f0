// Lagrangian prices of the GPU types: the best lower bound that prices can give.
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/adaptive/sia_choice.hpp"

namespace berth::sia {

struct Prices {
  std::vector<std::int64_t> per_gpu;  // [types] >= 0, in units of Option::cost
  std::int64_t bound = 0;             // no choice costs less: exact whole numbers, whatever the prices are
  std::vector<double> share;  // [options] weight in the linear program's answer; sums to 1 in each class
};

// What a choice costs at the least when GPUs cost `per_gpu` (Fisher 1981): the sum over classes of the
// cheapest option, less what all GPUs cost.
std::int64_t PricedBound(const Choice& choice, const std::vector<std::int64_t>& per_gpu);

// Dantzig and Wolfe's decomposition of the linear program (1960): a master program of types + 1 rows whose
// columns are whole choices, each the cheapest at some prices; prices are taken between the master's and the
// best ones so far (Wentges 1997). Ends at the linear program's optimum up to rounding.
Prices FindPrices(const Choice& choice);

}  // namespace berth::sia
