#include "agents/ppo/ppo_loss.hpp"

#include "agents/nn/masked_categorical.hpp"

namespace berth {

PpoSums PpoLoss(const torch::Tensor& scores, const torch::Tensor& value, const PpoBatch& batch, double clip,
                double value_clip) {
  const MaskedDistribution policy = MakeMaskedDistribution(scores, batch.mask);
  const torch::Tensor log_prob = policy.log_prob.gather(1, batch.action.unsqueeze(1)).squeeze(1);
  const torch::Tensor log_ratio = log_prob - batch.old_log_prob;
  const torch::Tensor ratio = log_ratio.exp();
  PpoSums sums;
  sums.policy_loss =
      -torch::min(ratio * batch.advantage, ratio.clamp(1.0 - clip, 1.0 + clip) * batch.advantage).sum();
  torch::Tensor squared = (value - batch.returns).square();
  if (value_clip > 0.0) {
    const torch::Tensor clipped = batch.old_value + (value - batch.old_value).clamp(-value_clip, value_clip);
    squared = torch::max(squared, (clipped - batch.returns).square());
  }
  sums.value_loss = 0.5 * squared.sum();
  sums.entropy = policy.entropy.sum();
  const torch::NoGradGuard no_grad;
  const torch::Tensor distance = (ratio - 1.0).abs();
  sums.figures = torch::stack({(ratio - 1.0 - log_ratio).sum(), (-log_ratio).sum(),
                               distance.gt(clip).sum().to(torch::kFloat32), distance.max()})
                     .detach();
  return sums;
}

}  // namespace berth
