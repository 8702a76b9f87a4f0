#include <algorithm>

#include "agents/dqn_loss.hpp"
#include "agents/q_learner.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

class AutogradQ final : public QLearner {
 public:
  AutogradQ(const AgentSetup& setup, Network& online, Network& target, const TdOptions& options)
      : options_(options),
        outputs_(std::max(options.quantiles, 1)),
        device_(setup.device),
        size_(static_cast<std::size_t>(setup.layout.size())),
        actions_(static_cast<std::size_t>(setup.num_actions)),
        online_(online),
        target_(target) {}

  void Scores(std::span<const float* const> rows, std::span<float> scores) override {
    const c10::InferenceMode inference;
    const torch::Tensor all = online_.Forward(Rows<float>(rows, size_, floats_)).scores;
    const torch::Tensor host = Means(all).to(torch::kCPU).contiguous();
    BERTH_CHECK(host.numel() == static_cast<std::int64_t>(scores.size()), host.sizes(), " ", scores.size());
    std::copy_n(host.data_ptr<float>(), scores.size(), scores.data());
  }

  TdFigures Gradient(const TdBatch& batch, std::span<float> error) override {
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_grad;
      const torch::Tensor next = Rows<float>(batch.next_observation, size_, floats_);
      const torch::Tensor mask = Rows<std::uint8_t>(batch.next_mask, actions_, bytes_);
      const torch::Tensor target = Returns(target_.Forward(next), mask);
      const torch::Tensor chooser = options_.double_q ? Means(online_.Forward(next).scores) : target.mean(2);
      goal = Column(batch.reward).unsqueeze(1) +
             Column(batch.discount).unsqueeze(1) * NextReturn(target, mask, chooser);
    }
    const NetworkOutput out = online_.Forward(Rows<float>(batch.observation, size_, floats_));
    const torch::Tensor mask = Rows<std::uint8_t>(batch.mask, actions_, bytes_);
    const torch::Tensor action =
        Column(batch.action).to(torch::kInt64).view({-1, 1, 1}).expand({-1, 1, outputs_});
    const torch::Tensor found = Returns(out, mask).gather(1, action).squeeze(1);  // [B, N], as goal
    const torch::Tensor of_rows = options_.quantiles > 0 ? QuantileHuberLoss(found, goal)
                                                         : HuberLoss(found.squeeze(1), goal.squeeze(1));
    const torch::Tensor loss = (Column(batch.weight) * of_rows).mean();
    const std::vector<torch::Tensor> parameters = online_.parameters();
    std::vector<torch::Tensor> gradients =
        torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      gradients[k] =
          gradients[k].defined() ? gradients[k].flatten() : torch::zeros_like(parameters[k]).flatten();
    }
    gradient_ = torch::cat(gradients);
    const torch::Tensor q = found.mean(1);
    const torch::Tensor difference = (q - goal.mean(1)).to(torch::kCPU).contiguous();
    std::copy_n(difference.data_ptr<float>(), error.size(), error.data());
    return {loss.item<double>(), q.mean().item<double>()};
  }

  const torch::Tensor& gradient() const override { return gradient_; }

 private:
  // [B, A] of [B, A * N].
  torch::Tensor Means(const torch::Tensor& scores) const {
    return outputs_ == 1 ? scores : scores.view({scores.size(0), -1, outputs_}).mean(2);
  }
  torch::Tensor Returns(const NetworkOutput& out, const torch::Tensor& mask) const {
    return ReturnQuantiles(out, mask, options_.dueling, outputs_);
  }
  // [B, width] on the device, a copy of its own.
  template <class T>
  torch::Tensor Rows(std::span<const T* const> rows, std::size_t width, std::vector<T>& memory) const {
    memory.clear();
    for (const T* row : rows) memory.insert(memory.end(), row, row + width);
    const torch::Tensor host = torch::from_blob(
        memory.data(), {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)},
        c10::CppTypeToScalarType<T>::value);
    return host.to(device_, host.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  }
  template <class T>
  torch::Tensor Column(const std::vector<T>& values) const {
    return torch::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                            c10::CppTypeToScalarType<T>::value)
        .to(device_);
  }

  TdOptions options_;
  std::int64_t outputs_;  // N
  torch::Device device_;
  std::size_t size_, actions_;
  Network &online_, &target_;
  torch::Tensor gradient_;
  std::vector<float> floats_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::unique_ptr<QLearner> MakeAutogradQ(const AgentSetup& setup, Network& online, Network& target,
                                        const TdOptions& options) {
  return std::make_unique<AutogradQ>(setup, online, target, options);
}

}  // namespace berth
