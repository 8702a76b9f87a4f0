// Prices of --types in the place of those that are known of GPU types.
#pragma once

#include <memory>
#include <vector>

#include "env/gym/scenario_source.hpp"
#include "tools/size/mixes.hpp"

namespace berth {

// The workloads of `source` on GPUs that cost what `types` say, slices of them their part: so `cost`, and
// schedulers that look at prices, count by what mixes are compared by. Where no price is stated the source
// itself.
std::shared_ptr<const ScenarioSource> WithPrices(std::shared_ptr<const ScenarioSource> source,
                                                 const std::vector<TypeRange>& types);

}  // namespace berth
