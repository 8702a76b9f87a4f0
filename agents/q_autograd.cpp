#include "agents/actor.hpp"
#include "agents/dqn_loss.hpp"
#include "agents/q_learner.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

class AutogradQ final : public QLearner {
 public:
  AutogradQ(const AgentSetup& setup, Network& online, Network& target, const TdOptions& options)
      : options_(options),
        device_(setup.device),
        size_(setup.layout.size()),
        actions_(setup.num_actions),
        online_(online),
        target_(target),
        actor_(setup, online, setup.num_envs) {
    for (const torch::Tensor& parameter : online.parameters()) parameters_ += parameter.numel();
  }

  std::int64_t used() const override { return parameters_; }

  void Scores(std::span<const float> observation, std::span<float> scores) override {
    values_.resize(scores.size() / static_cast<std::size_t>(actions_));
    actor_.Forward(observation, scores, values_);
  }

  TdFigures Gradient(const TdBatch& batch, torch::Tensor& gradient, std::span<float> error) override {
    const auto on_device = [&](const auto& values, torch::ScalarType type, std::int64_t width) {
      const torch::Tensor host = torch::from_blob(
          const_cast<void*>(static_cast<const void*>(values.data())),
          width > 0 ? std::vector<std::int64_t>{batch.rows, width} : std::vector<std::int64_t>{batch.rows},
          type);
      return host.to(device_);
    };
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_grad;
      const torch::Tensor next = on_device(batch.next_observation, torch::kFloat32, size_);
      const torch::Tensor mask = on_device(batch.next_mask, torch::kUInt8, actions_);
      const torch::Tensor target = QValues(target_.Forward(next), mask, options_.dueling);
      const torch::Tensor value =
          options_.double_q ? NextValue(target, mask, online_.Forward(next).scores) : NextValue(target, mask);
      goal =
          on_device(batch.reward, torch::kFloat32, 0) + on_device(batch.discount, torch::kFloat32, 0) * value;
    }
    const NetworkOutput out = online_.Forward(on_device(batch.observation, torch::kFloat32, size_));
    const torch::Tensor action = on_device(batch.action, torch::kInt32, 0).to(torch::kInt64);
    const torch::Tensor q = QValues(out, on_device(batch.mask, torch::kUInt8, actions_), options_.dueling)
                                .gather(1, action.unsqueeze(1))
                                .squeeze(1);
    const torch::Tensor weight = on_device(batch.weight, torch::kFloat32, 0);
    const torch::Tensor loss = (weight * torch::smooth_l1_loss(q, goal, at::Reduction::None)).mean();
    const std::vector<torch::Tensor> parameters = online_.parameters();
    std::vector<torch::Tensor> gradients =
        torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      gradients[k] =
          gradients[k].defined() ? gradients[k].flatten() : torch::zeros_like(parameters[k]).flatten();
    }
    torch::cat_out(gradient, gradients);
    const torch::NoGradGuard no_grad;
    const torch::Tensor difference = (q - goal).to(torch::kCPU).contiguous();
    std::copy_n(difference.data_ptr<float>(), error.size(), error.data());
    return {loss.item<double>(), q.mean().item<double>()};
  }

 private:
  TdOptions options_;
  torch::Device device_;
  std::int64_t size_, actions_, parameters_ = 0;
  Network &online_, &target_;
  Actor actor_;
  std::vector<float> values_;
};

}  // namespace

std::unique_ptr<QLearner> MakeAutogradQ(const AgentSetup& setup, Network& online, Network& target,
                                        const TdOptions& options) {
  return std::make_unique<AutogradQ>(setup, online, target, options);
}

}  // namespace berth
