// Networks with a forward and a backward pass written out over the kernels, instead of LibTorch's operations
// and its autograd: the same functions of the same parameters, which stay LibTorch's.
// tests/learn/fused_test.cpp compares every gradient with autograd.
//
//   auto fused = MakeFused("mlp(hidden=64x64)", layout, num_actions, parameters);   // null: not one of these
//   fused->Refresh();                                     // after every change of the parameters
//   while (!rows.empty()) {
//     const auto chunk = rows.first(fused->ChunkOf(rows));
//     fused->Forward(chunk, scores, values);
//     ...                                                 // the loss's gradients at scores and values
//     fused->Backward(d_scores, d_values);                // adds to gradient()
//     rows = rows.subspan(chunk.size());
//   }
//
// No heap allocation once the largest chunk was seen. Same bits for the same calls; a row's scores and value
// do not depend on its neighbours. Thread rule: one thread at a time; several may read the same parameters.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/observation.hpp"

namespace berth {

// One parameter of the trained network: "actor_0.weight", its values (row-major) and their number.
struct ParameterView {
  std::string name;
  float* values;
  std::size_t size;
};

class FusedNetwork {
 public:
  virtual ~FusedNetwork() = default;
  virtual void Refresh() = 0;
  // How many of the first of these rows (at least one) are best computed together.
  virtual std::size_t ChunkOf(std::span<const float* const> rows) const = 0;
  // Each of `rows` is an observation [D]; they must stay until Backward. scores [rows, A] unmasked, values
  // [rows]; null values: not wanted, nor computed.
  virtual void Forward(std::span<const float* const> rows, float* scores, float* values) = 0;
  // Of the last Forward; d_scores [rows, A] and d_values [rows] are the loss's gradients there; null
  // d_values: 0.
  virtual void Backward(const float* d_scores, const float* d_values) = 0;

  // In the order of the parameters, one after the other.
  std::span<float> gradient() { return gradient_; }
  // Multiply-adds of all passes so far, the products of layers alone.
  double multiply_adds() const { return multiply_adds_; }

 protected:
  std::vector<float> gradient_;
  double multiply_adds_ = 0.0;
};

// The fused form of the network that this spec names, or null where it has none.
std::unique_ptr<FusedNetwork> MakeFused(const std::string& spec, const ObservationLayout& layout,
                                        int num_actions, std::span<const ParameterView> parameters);

struct FusedInfo {
  const char* name;  // of the architecture
  std::unique_ptr<FusedNetwork> (*make)(Params& params, const ObservationLayout& layout, int num_actions,
                                        std::span<const ParameterView> parameters);
};
// The one list: X(function that gives the FusedInfo, defined in the network's own file).
#define BERTH_FUSED_NETWORKS(X) \
  X(FusedMlpInfo)               \
  X(FusedPairScorerInfo)

#define BERTH_DECLARE(function) FusedInfo function();
BERTH_FUSED_NETWORKS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
