#include "agents/dqn/td_step.hpp"

#include <algorithm>

#include "agents/dqn/dqn_loss.hpp"
#include "agents/learner/forward_sequences.hpp"

namespace berth {
namespace {

std::int64_t Outputs(const TdOptions& options) {
  return std::max(options.quantiles, 1);
}

}  // namespace

torch::Tensor MeanOutputs(const torch::Tensor& scores, const TdOptions& options) {
  const std::int64_t outputs = Outputs(options);
  return outputs == 1 ? scores : scores.view({scores.size(0), -1, outputs}).mean(2);
}

TdStep StepOf(Network& online, Network& target, const TdTensors& batch, const TdOptions& options) {
  const std::int64_t outputs = Outputs(options);
  torch::Tensor goal;
  if (options.soft) {
    goal = batch.reward.unsqueeze(1);
  } else {
    const torch::NoGradGuard no_grad;
    const torch::Tensor next =
        ReturnQuantiles(target.Forward(batch.next_observation), batch.next_mask, options.dueling, outputs);
    const torch::Tensor chooser =
        options.double_q ? MeanOutputs(online.Forward(batch.next_observation).scores, options) : next.mean(2);
    goal =
        batch.reward.unsqueeze(1) + batch.discount.unsqueeze(1) * NextReturn(next, batch.next_mask, chooser);
  }
  const NetworkOutput out = batch.begin.empty()
                                ? online.Forward(batch.observation)
                                : ForwardSequences(online, batch.observation, batch.begin, batch.passes);
  const torch::Tensor action = batch.action.to(torch::kInt64).view({-1, 1, 1}).expand({-1, 1, outputs});
  const torch::Tensor found = ReturnQuantiles(out, batch.mask, options.dueling, outputs, batch.temperature)
                                  .gather(1, action)
                                  .squeeze(1);  // [B, N], as goal
  const torch::Tensor of_rows =
      options.quantiles > 0 ? QuantileHuberLoss(found, goal) : HuberLoss(found.squeeze(1), goal.squeeze(1));
  const torch::Tensor loss = (batch.weight * of_rows).mean();
  const std::vector<torch::Tensor> parameters = online.parameters();
  std::vector<torch::Tensor> gradients =
      torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
  const torch::NoGradGuard no_grad;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    gradients[k] =
        gradients[k].defined() ? gradients[k].flatten() : torch::zeros_like(parameters[k]).flatten();
  }
  const torch::Tensor q = found.detach().mean(1);
  return {torch::cat(gradients), q - goal.mean(1), loss.detach(), q.mean()};
}

}  // namespace berth
