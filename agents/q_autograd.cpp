#include "agents/actor.hpp"
#include "agents/dqn_loss.hpp"
#include "agents/q_learner.hpp"

namespace berth {
namespace {

class AutogradQ final : public QLearner {
 public:
  AutogradQ(const AgentSetup& setup, Network& online, Network& target, const TdOptions& options)
      : options_(options),
        device_(setup.device),
        size_(static_cast<std::size_t>(setup.layout.size())),
        actions_(static_cast<std::size_t>(setup.num_actions)),
        online_(online),
        target_(target),
        actor_(setup, online, setup.num_envs) {}

  void Scores(std::span<const float* const> rows, std::span<float> scores) override {
    values_.resize(rows.size());
    Gather(rows, size_, floats_);
    actor_.Forward(floats_, scores, values_);
  }

  TdFigures Gradient(const TdBatch& batch, std::span<float> error) override {
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_grad;
      const torch::Tensor next = Rows<float>(batch.next_observation, size_, floats_);
      const torch::Tensor mask = Rows<std::uint8_t>(batch.next_mask, actions_, bytes_);
      const torch::Tensor target = QValues(target_.Forward(next), mask, options_.dueling);
      const torch::Tensor value =
          options_.double_q ? NextValue(target, mask, online_.Forward(next).scores) : NextValue(target, mask);
      goal = Column(batch.reward) + Column(batch.discount) * value;
    }
    const NetworkOutput out = online_.Forward(Rows<float>(batch.observation, size_, floats_));
    const torch::Tensor mask = Rows<std::uint8_t>(batch.mask, actions_, bytes_);
    const torch::Tensor q = QValues(out, mask, options_.dueling)
                                .gather(1, Column(batch.action).to(torch::kInt64).unsqueeze(1))
                                .squeeze(1);
    const torch::Tensor loss =
        (Column(batch.weight) * torch::smooth_l1_loss(q, goal, at::Reduction::None)).mean();
    const std::vector<torch::Tensor> parameters = online_.parameters();
    std::vector<torch::Tensor> gradients =
        torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      gradients[k] =
          gradients[k].defined() ? gradients[k].flatten() : torch::zeros_like(parameters[k]).flatten();
    }
    gradient_ = torch::cat(gradients);
    const torch::Tensor difference = (q - goal).to(torch::kCPU).contiguous();
    std::copy_n(difference.data_ptr<float>(), error.size(), error.data());
    return {loss.item<double>(), q.mean().item<double>()};
  }

  const torch::Tensor& gradient() const override { return gradient_; }

 private:
  template <class T>
  static void Gather(std::span<const T* const> rows, std::size_t width, std::vector<T>& to) {
    to.clear();
    for (const T* row : rows) to.insert(to.end(), row, row + width);
  }
  // [B, width] on the device, a copy of its own.
  template <class T>
  torch::Tensor Rows(const std::vector<const T*>& rows, std::size_t width, std::vector<T>& memory) const {
    Gather<T>(rows, width, memory);
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
  torch::Device device_;
  std::size_t size_, actions_;
  Network &online_, &target_;
  Actor actor_;
  torch::Tensor gradient_;
  std::vector<float> floats_, values_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::unique_ptr<QLearner> MakeAutogradQ(const AgentSetup& setup, Network& online, Network& target,
                                        const TdOptions& options) {
  return std::make_unique<AutogradQ>(setup, online, target, options);
}

}  // namespace berth
