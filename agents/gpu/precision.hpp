// How the network's products are computed on the device. Parameters, losses, gradients' sums and the
// optimiser are float32 throughout.
#pragma once

#include <torch/torch.h>

#include "policies/learn/networks.hpp"

namespace berth {

enum class Precision { kFloat32, kTf32, kBf16 };

// The forward pass; with kBf16 under LibTorch's autocast, whose results come back as float32.
NetworkOutput ForwardWith(Precision precision, Network& network, const torch::Tensor& observation);

}  // namespace berth
