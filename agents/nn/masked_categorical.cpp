#include "agents/nn/masked_categorical.hpp"

namespace berth {

MaskedDistribution MakeMaskedDistribution(const torch::Tensor& scores, const torch::Tensor& mask) {
  const torch::Tensor log_prob = torch::log_softmax(scores.masked_fill(mask.eq(0), kMaskedLogit), -1);
  // exp(-1e8) is exactly 0, so masked actions add nothing.
  return {log_prob, -(log_prob.exp() * log_prob).sum(-1)};
}

}  // namespace berth
