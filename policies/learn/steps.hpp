// The steps of a described network as LibTorch's operations: what a kind of step has to give so that it can
// be trained. The order of operations is that of the steps: autograd sums the gradients of a value that
// several steps read in the reverse order.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "policies/learn/dense_module.hpp"
#include "policies/networks/description.hpp"

namespace berth {

// One forward pass under way. RowOf of pairs are kept of the present jobs alone [n, G, .], queues being
// seldom full, unless shapes are fixed: then all are computed, and the actions of absent jobs set to the 0
// that they have otherwise.
struct TorchRun {
  TorchRun(const NetworkDescription& described, const std::vector<std::shared_ptr<DenseModule>>& modules,
           const torch::Tensor& stored, bool fixed_shapes);  // stored [B, net.row()]
  const torch::Tensor& At(ValueId value) const { return values[static_cast<std::size_t>(value)]; }
  const NetworkValue& About(ValueId value) const { return net.values()[static_cast<std::size_t>(value)]; }
  torch::Tensor Kept(ValueId value);  // [B, Q, .] with 0 in rows of absent jobs

  const NetworkDescription& net;
  const std::vector<std::shared_ptr<DenseModule>>& layers;  // by layer
  bool fixed;
  std::vector<torch::Tensor> values;  // [B, .], [B, G, .], [B, Q, .] or [n, G, .]
  std::vector<torch::Tensor> kept;    // by value, once somebody asked
  // Where the network reads blocks: [B, Q, 1] 1 or 0, [n] of B * Q the present rows, [n] of B their states.
  torch::Tensor present, rows, batch;
};

#define BERTH_DECLARE(kind) torch::Tensor Torch##kind(TorchRun& run, const NetworkStep& step);
BERTH_NETWORK_STEPS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
