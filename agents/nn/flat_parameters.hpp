// The parameters of a module as one row of memory: what optimisers, target networks and written-out passes
// work on, while the module goes on using its tensors.
#pragma once

#include <torch/torch.h>

namespace berth {

// Moves the parameters, in the module's order, into one float tensor [P] on their device, of which they
// become views. Once a module, after it was moved to its device.
torch::Tensor Flatten(torch::nn::Module& module);

}  // namespace berth
