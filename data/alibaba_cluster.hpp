// Alibaba's machines as a cluster: what the readers of its GPU traces of 2020 (pai.hpp) and 2023 (openb.hpp)
// share.
#pragma once

#include <cstdint>
#include <vector>

#include "data/openb.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

struct AlibabaCluster {
  ClusterSpec spec;
  std::vector<std::uint64_t> types_of_model;  // [models] bits of types
};

// A type for each model and number of GPUs in a machine: "V100M16x4" where a model comes in several. Machines
// without GPU are left out.
AlibabaCluster ClusterOf(const OpenbNodes& nodes);

}  // namespace berth
