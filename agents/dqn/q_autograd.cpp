#include <algorithm>

#include "agents/dqn/q_learner.hpp"
#include "agents/dqn/td_step.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

class AutogradQ final : public QLearner {
 public:
  AutogradQ(const AgentSetup& setup, Network& online, Network& target, const TdOptions& options)
      : options_(options),
        device_(setup.device),
        size_(static_cast<std::size_t>(setup.row())),
        actions_(static_cast<std::size_t>(setup.num_actions)),
        online_(online),
        target_(target) {}

  void Scores(std::span<const float* const> rows, std::span<float> scores) override {
    ScoresAndValues(rows, scores, {});
  }

  void ScoresAndNext(std::span<const float* const> rows, std::span<float> scores,
                     std::span<float> next) override {
    const c10::InferenceMode inference;
    const NetworkOutput out = online_.Forward(Rows<float>(rows, size_, floats_));
    ToHost(MeanOutputs(out.scores, options_), scores);
    if (!next.empty()) ToHost(out.next, next);
  }

  void ScoresAndValues(std::span<const float* const> rows, std::span<float> scores,
                       std::span<float> values) override {
    const c10::InferenceMode inference;
    const NetworkOutput out = online_.Forward(Rows<float>(rows, size_, floats_));
    ToHost(MeanOutputs(out.scores, options_), scores);
    if (!values.empty()) ToHost(out.value, values);
  }

  TdFigures Gradient(const TdBatch& batch, std::span<float> error) override {
    const bool next = !options_.soft;
    TdTensors tensors = {Rows<float>(batch.observation, size_, floats_),
                         next ? Rows<float>(batch.next_observation, size_, floats_) : torch::Tensor(),
                         Rows<std::uint8_t>(batch.mask, actions_, bytes_),
                         next ? Rows<std::uint8_t>(batch.next_mask, actions_, bytes_) : torch::Tensor(),
                         Column(batch.action),
                         Column(batch.reward),
                         Column(batch.discount),
                         Column(batch.weight),
                         next ? torch::Tensor() : torch::full({1}, batch.temperature, device_)};
    for (std::size_t b = 0; b < batch.joins.size(); ++b) {
      const bool begins = b == 0 || batch.joins[b] == TdBatch::Joins::kNot;
      if (begins) tensors.begin.push_back(b);
      if (!begins) tensors.passes.back() = batch.joins[b] == TdBatch::Joins::kNextState;
      tensors.passes.push_back(0);
    }
    if (!tensors.begin.empty()) tensors.begin.push_back(batch.joins.size());
    const TdStep step = StepOf(online_, target_, tensors, options_);
    gradient_ = step.gradient;
    const torch::Tensor difference = step.error.to(torch::kCPU).contiguous();
    std::copy_n(difference.data_ptr<float>(), error.size(), error.data());
    return {step.loss.item<double>(), step.mean_q.item<double>()};
  }

  const torch::Tensor& gradient() const override { return gradient_; }

 private:
  static void ToHost(const torch::Tensor& from, std::span<float> to) {
    const torch::Tensor host = from.to(torch::kCPU).contiguous();
    BERTH_CHECK(host.numel() == static_cast<std::int64_t>(to.size()), host.sizes(), " ", to.size());
    std::copy_n(host.data_ptr<float>(), to.size(), to.data());
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
