#include "agents/dqn/dqn_loss.hpp"

#include "agents/nn/masked_categorical.hpp"

namespace berth {

torch::Tensor ReturnQuantiles(const NetworkOutput& output, const torch::Tensor& mask, bool dueling,
                              std::int64_t quantiles, const torch::Tensor& temperature) {
  const torch::Tensor scores = output.scores.view({mask.size(0), mask.size(1), quantiles});
  if (!dueling) return scores;
  const torch::Tensor of_actions = scores.mean(2), allowed = mask.to(torch::kFloat32);
  const torch::Tensor share =
      temperature.defined()
          ? MakeMaskedDistribution(of_actions.detach() / temperature, mask).log_prob.exp() * allowed
          : allowed / allowed.sum(1, /*keepdim=*/true).clamp_min(1.0);
  const torch::Tensor mean = (share * of_actions).sum(1);
  return output.value.view({-1, 1, 1}) + scores - mean.view({-1, 1, 1});
}

torch::Tensor QValues(const NetworkOutput& output, const torch::Tensor& mask, bool dueling) {
  return ReturnQuantiles(output, mask, dueling, 1).squeeze(2);
}

torch::Tensor NextReturn(const torch::Tensor& target, const torch::Tensor& mask,
                         const torch::Tensor& chooser) {
  const torch::Tensor best = chooser.masked_fill(mask.eq(0), kMaskedLogit).argmax(1);  // [B]
  return target.gather(1, best.view({-1, 1, 1}).expand({-1, 1, target.size(2)})).squeeze(1);
}

torch::Tensor HuberLoss(const torch::Tensor& q, const torch::Tensor& goal) {
  return torch::smooth_l1_loss(q, goal, at::Reduction::None);
}

torch::Tensor QuantileHuberLoss(const torch::Tensor& quantiles, const torch::Tensor& goals) {
  const std::int64_t n = quantiles.size(1);
  const torch::Tensor midpoint =
      ((torch::arange(n, quantiles.options().requires_grad(false)) + 0.5) / static_cast<double>(n))
          .view({1, n, 1});
  const torch::Tensor error = goals.unsqueeze(1) - quantiles.unsqueeze(2);  // [B, N, M]
  const torch::Tensor size = error.detach().abs();
  const torch::Tensor huber = torch::where(size.le(1.0), 0.5 * error.square(), error.abs() - 0.5);
  const torch::Tensor weight = (midpoint - error.detach().lt(0.0).to(torch::kFloat32)).abs();
  return (weight * huber).mean(2).sum(1);
}

}  // namespace berth
