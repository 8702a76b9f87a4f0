// FusedQ on the memory of LibTorch's parameters.
#include "agents/dqn/q_learner.hpp"
#include "agents/nn/fused/fused_q.hpp"

namespace berth {
namespace {

std::unique_ptr<FusedNetwork> FusedOf(const AgentSetup& setup, Network& network) {
  std::vector<ParameterView> views;
  for (const auto& item : network.named_parameters()) {
    const torch::Tensor& values = item.value();
    views.push_back({item.key(), values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  }
  return MakeFused(setup.network, setup.layout, setup.num_actions, views);
}

class FusedLearner final : public QLearner {
 public:
  FusedLearner(std::unique_ptr<FusedNetwork> online, std::unique_ptr<FusedNetwork> target, int actions,
               const TdOptions& options)
      : q_(std::move(online), std::move(target), actions, options),
        gradient_(torch::from_blob(q_.gradient().data(), {static_cast<std::int64_t>(q_.gradient().size())})) {
  }

  void Scores(std::span<const float* const> rows, std::span<float> scores) override {
    q_.Scores(rows, scores.data());
  }
  void ScoresAndValues(std::span<const float* const> rows, std::span<float> scores,
                       std::span<float> values) override {
    q_.Scores(rows, scores.data(), values.data());
  }
  void ScoresAndNext(std::span<const float* const> rows, std::span<float> scores,
                     std::span<float> next) override {
    q_.Scores(rows, scores.data(), nullptr, next.empty() ? nullptr : next.data());
  }
  bool RowsApart() const override { return true; }
  TdFigures Gradient(const TdBatch& batch, std::span<float> error) override {
    return q_.Gradient(batch, error);
  }
  const torch::Tensor& gradient() const override { return gradient_; }
  void OnlineChanged() override { q_.OnlineChanged(); }
  void TargetChanged() override { q_.TargetChanged(); }
  double multiply_adds() const override { return q_.multiply_adds(); }

 private:
  FusedQ q_;
  torch::Tensor gradient_;  // the network's own memory
};

}  // namespace

std::unique_ptr<QLearner> MakeFusedQ(const AgentSetup& setup, Network& online, Network& target,
                                     const TdOptions& options) {
  if (!setup.device.is_cpu() || options.quantiles > 0) return nullptr;
  auto fused = FusedOf(setup, online), fused_target = FusedOf(setup, target);
  if (fused == nullptr) return nullptr;
  return std::make_unique<FusedLearner>(std::move(fused), std::move(fused_target), setup.num_actions,
                                        options);
}

}  // namespace berth
