#include "agents/dqn_loss.hpp"

#include "agents/masked_categorical.hpp"

namespace berth {

torch::Tensor QValues(const NetworkOutput& output, const torch::Tensor& mask, bool dueling) {
  if (!dueling) return output.scores;
  const torch::Tensor allowed = mask.to(torch::kFloat32);
  const torch::Tensor mean = (output.scores * allowed).sum(1, true) / allowed.sum(1, true).clamp_min(1.0);
  return output.value.unsqueeze(1) + output.scores - mean;
}

torch::Tensor NextValue(const torch::Tensor& target, const torch::Tensor& mask, const torch::Tensor& online) {
  const torch::Tensor illegal = mask.eq(0);
  if (!online.defined()) return std::get<0>(target.masked_fill(illegal, kMaskedLogit).max(1));
  const torch::Tensor best = online.masked_fill(illegal, kMaskedLogit).argmax(1, true);
  return target.gather(1, best).squeeze(1);
}

}  // namespace berth
