// GPU types by name, with published figures for memory, bandwidth, power and price: data/gpus.csv.
#pragma once

#include <span>
#include <string>

#include "env/sim/scenario.hpp"

namespace berth {

struct GpuProduct {
  GpuType type;  // count 0; 0 = not published
  std::string product, spec_source, price_source;
  bool idle_published = false;  // else a tenth of the board's power
};

std::span<const GpuProduct> GpuProducts();
std::span<const GpuType> ShippedGpuTypes();  // theirs, in the same order

}  // namespace berth
