// The sum over the ranks of a gradient and of a few figures beside it, in one message.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

#include "agents/ranks.hpp"

namespace berth {

class GradientSum {
 public:
  // In place, the same bits on every rank. All float tensors on one device; figures cross as floats.
  // REQUIRES: ranks.many()
  void Add(const Ranks& ranks, std::span<torch::Tensor> gradients, std::span<double> figures);

 private:
  std::vector<float> row_;  // where they are on the CPU
};

}  // namespace berth
