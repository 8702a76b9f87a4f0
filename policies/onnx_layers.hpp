// The layers of a bundle as ONNX nodes: what the architectures' graphs are made of.
#pragma once

#include <cstdint>
#include <string>

#include "policies/bundle.hpp"
#include "policies/dense.hpp"
#include "policies/onnx_graph.hpp"

namespace berth {

// `bundle` and `graph` must outlive it.
class OnnxLayers {
 public:
  OnnxLayers(const PolicyBundle& bundle, Activation activation, OnnxGraph& graph)
      : bundle_(bundle), activation_(activation), graph_(graph) {}

  // W [n, outputs], the rows of the transposed weights that belong to inputs first .. first + n - 1.
  std::string Weight(const std::string& layer, std::int64_t first, std::int64_t n) const;
  std::string Bias(const std::string& layer) const;                              // [outputs]
  std::string Linear(const std::string& layer, const std::string& input) const;  // over the last dimension
  std::string Activate(const std::string& input) const;
  std::string Hidden(const std::string& layer, const std::string& input) const {
    return Activate(Linear(layer, input));
  }
  // The model's outputs: `scores` [B, A], -1e8 where action_mask is false, and `value` [B] from [B, 1].
  void Outputs(const std::string& scores, const std::string& value) const;

 private:
  const PolicyBundle& bundle_;
  Activation activation_;
  OnnxGraph& graph_;
};

}  // namespace berth
