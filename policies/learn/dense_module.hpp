// A dense layer whose initial weights come from a Stream alone: LibTorch's own generator is neither read nor
// moved.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "env/base/rng.hpp"
#include "policies/networks/description.hpp"

namespace berth {

// Orthogonal rows or columns, whichever are fewer, times `gain` (Saxe et al. 2014): the
// Q of the QR decomposition of a Gaussian matrix, row-major [outputs, inputs].
std::vector<float> OrthogonalWeights(int outputs, int inputs, double gain, Stream& stream);

class DenseModule : public torch::nn::Module {
 public:
  DenseModule(const LayerSpec& spec, Stream& stream);
  // x [..., inputs] to [..., outputs]
  torch::Tensor Forward(const torch::Tensor& x) const { return torch::linear(x, weight, bias); }
  // The share of inputs from `first` on, without bias.
  torch::Tensor Part(const torch::Tensor& x, std::int64_t first) const {
    return torch::linear(x, weight.narrow(1, first, x.size(-1)));
  }
  torch::Tensor weight, bias;  // [outputs, inputs], [outputs]
};

}  // namespace berth
