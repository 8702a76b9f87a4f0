// GPU types by name, with public figures for memory, power and price.
#pragma once

#include <span>

#include "env/sim/scenario.hpp"

namespace berth {

std::span<const GpuType> ShippedGpuTypes();  // count 0

}  // namespace berth
