// A network with a memory over sequences by LibTorch's operations, for autograd: what FusedSequences
// (agents/nn/fused/) is compared with, and what learns where there are no written-out passes.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "policies/learn/networks.hpp"

namespace berth {

// stored [G, D + M]: a row a step, on the network's device. Sequence s is the steps begin[s] .. begin[s + 1]
// - 1 and begins at the state that is stored with its first; passes [G]: 1 where the next step is at what the
// step makes of the state, 0 where it is at the same state. Gives back scores and values of the steps in
// their order.
NetworkOutput ForwardSequences(Network& network, const torch::Tensor& stored,
                               std::span<const std::size_t> begin, std::span<const std::uint8_t> passes);

}  // namespace berth
