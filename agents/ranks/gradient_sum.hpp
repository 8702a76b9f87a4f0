// The sum over the ranks of a gradient and of a few figures beside it: on the CPU in one message, of a GPU
// the gradient where it is (ProcessGroup::SumOnDevice) and the figures, which the host needs, beside it.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

#include "agents/ranks/ranks.hpp"

namespace berth {

class GradientSum {
 public:
  // In place, the same bits on every rank. All float tensors on one device; figures cross as floats
  // on the CPU.
  // REQUIRES: ranks.many()
  void Add(const Ranks& ranks, std::span<torch::Tensor> gradients, std::span<double> figures);

 private:
  std::vector<float> row_;  // where they are on the CPU
};

}  // namespace berth
