// Node pools as a user writes them, and which GPUs each has.
//
//   fast:v100:srpt|slow:p100+k80:easy          each GPU type in one pool, each pool with its scheduler
//   batch:*/0.75:easy|debug:*/0.25             shares of the nodes of every type
//   big:v100/0.5|rest:v100+p100+k80            what a pool states no share of it has the rest of
//   types                                      a pool for each GPU type, named like it
//
// Pools take whole nodes, in their order: of a type's n nodes the one with cumulated shares from a to b has
// nodes floor(a n) to floor(b n).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

struct PoolGpus {
  std::string type;    // "*" = every type
  double share = 0.0;  // of its nodes; 0 = the rest
};

struct PoolSpec {
  std::string name;
  std::vector<PoolGpus> gpus;
  std::string scheduler;
};

// `inner` is the scheduler of pools that name none. Empty for "types". Throws Error.
std::vector<PoolSpec> ParsePools(std::string_view text, const std::string& inner);

// The pools that "types" stands for.
std::vector<PoolSpec> PoolPerType(std::span<const GpuType> types, const std::string& inner);

// [pools + 1, G] a pool has devices first to before the next pool's first of every type, counted within the
// type; what is behind the last belongs to none. Throws Error where a pool names a type that is not there,
// shares exceed 1 or two pools want the rest.
std::vector<std::vector<int>> PoolBounds(const std::vector<PoolSpec>& pools, std::span<const GpuType> types);

}  // namespace berth
