// The descent of a sum tree (Schaul et al. 2016, appendix B.2.1), for SumTree and for the device.
#pragma once

#include <cstddef>

#include "agents/nn/kernels/host_device.hpp"

namespace berth {

// The leaf at `mass` in [0, node[1]) of the leaves laid end to end; one whose value is above 0, where any is.
// `first` leaves, a power of two; 1 is the root, 2 i and 2 i + 1 are the children of i.
BERTH_HOST_DEVICE std::size_t LeafAt(const double* node, std::size_t first, double mass) {
  std::size_t at = 1;
  while (at < first) {
    at *= 2;
    // Rounding may leave a mass beyond the last leaf above 0: never into an empty half.
    if (mass < node[at] || !(node[at + 1] > 0.0)) continue;
    mass -= node[at];
    ++at;
  }
  return at - first;
}

}  // namespace berth
