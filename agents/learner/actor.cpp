#include "agents/learner/actor.hpp"

#include <algorithm>

#include "agents/nn/masked_categorical.hpp"
#include "env/base/check.hpp"

namespace berth {

Replicas::Replicas(const AgentSetup& setup, int count, bool fused) {
  for (int w = 0; w < count; ++w) {
    auto network = MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed);
    network->to(setup.device);
    parameters_.push_back(network->parameters());
    if (w > 0) {
      for (std::size_t k = 0; k < parameters_[0].size(); ++k) {
        parameters_.back()[k].set_data(parameters_[0][k].data());
      }
    }
    fused_.emplace_back();
    fused_gradients_.emplace_back();
    if (fused && setup.device.is_cpu()) AddFused(setup, *network);
    networks_.push_back(std::move(network));
  }
}

void Replicas::AddFused(const AgentSetup& setup, Network& network) {
  std::vector<ParameterView> views;
  for (const auto& item : network.named_parameters()) {
    const torch::Tensor& parameter = item.value();
    BERTH_CHECK(parameter.is_contiguous(), item.key());
    views.push_back({item.key(), parameter.data_ptr<float>(), static_cast<std::size_t>(parameter.numel())});
  }
  fused_.back() = MakeFused(setup.network, setup.layout, setup.num_actions, views);
  if (fused_.back() == nullptr) return;
  float* gradient = fused_.back()->gradient().data();
  for (const torch::Tensor& parameter : parameters_.back()) {
    fused_gradients_.back().push_back(torch::from_blob(gradient, parameter.sizes()));
    gradient += parameter.numel();
  }
}

double Replicas::multiply_adds() const {
  double sum = 0.0;
  for (const auto& fused : fused_) sum += fused != nullptr ? fused->multiply_adds() : 0.0;
  return sum;
}

// Rows apart even by LibTorch, whose bits depend on how many there are: parameters stand still during a
// rollout, which begins with nothing cached, and runs are resumed between rollouts.
Actor::Actor(const AgentSetup& setup, Network& network, int envs, FusedNetwork* fused)
    : ActingCache(envs, setup.row(), setup.num_actions, /*rows_apart=*/true, setup.memory),
      device_(setup.device),
      network_(network),
      fused_(fused),
      size_(static_cast<std::size_t>(setup.row())),
      actions_(static_cast<std::size_t>(setup.num_actions)),
      memory_(static_cast<std::size_t>(setup.memory)) {}

void Actor::Invalidate() {
  ActingCache::Invalidate();
  packed_ = false;
}

void Actor::Compute(std::span<const float* const> rows, std::span<float> scores, std::span<float> values,
                    std::span<float> next) {
  if (fused_ == nullptr) {
    batch_.clear();
    for (const float* row : rows) batch_.insert(batch_.end(), row, row + size_);
    return Forward(batch_, scores, values, next);
  }
  if (!packed_) fused_->Refresh();
  packed_ = true;
  for (std::size_t begin = 0; begin < values.size();) {
    const auto left = rows.subspan(begin);
    const std::size_t count = fused_->ChunkOf(left);
    fused_->Forward(left.first(count), scores.data() + begin * actions_, values.data() + begin,
                    next.empty() ? nullptr : next.data() + begin * memory_);
    begin += count;
  }
}

void Actor::Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values) {
  Forward(observation, scores, values, {});
}

void Actor::Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values,
                    std::span<float> next) {
  if (fused_ != nullptr) {
    row_pointers_.clear();
    for (std::size_t r = 0; r < values.size(); ++r) row_pointers_.push_back(observation.data() + r * size_);
    return Compute(row_pointers_, scores, values, next);
  }
  const c10::InferenceMode inference;
  const auto rows = static_cast<std::int64_t>(values.size());
  const torch::Tensor host =
      torch::from_blob(const_cast<float*>(observation.data()), {rows, static_cast<std::int64_t>(size_)});
  const NetworkOutput out = network_.Forward(host.to(device_));
  const torch::Tensor all_scores = out.scores.to(torch::kCPU).contiguous();
  const torch::Tensor all_values = out.value.to(torch::kCPU).contiguous();
  BERTH_CHECK(all_scores.numel() == rows * static_cast<std::int64_t>(actions_) && all_values.numel() == rows,
              all_scores.sizes(), " ", all_values.sizes());
  std::copy_n(all_scores.data_ptr<float>(), all_scores.numel(), scores.data());
  std::copy_n(all_values.data_ptr<float>(), rows, values.data());
  if (next.empty()) return;
  const torch::Tensor all_next = out.next.to(torch::kCPU).contiguous();
  std::copy_n(all_next.data_ptr<float>(), all_next.numel(), next.data());
}

void Actor::Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
                   std::span<std::int32_t> actions) {
  std::vector<float> scores(actions.size() * actions_);
  std::vector<float> values(actions.size());
  Forward(observation, scores, values);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    actions[i] = ArgmaxMasked(std::span<const float>(scores).subspan(i * actions_, actions_),
                              mask.subspan(i * actions_, actions_));
  }
}

}  // namespace berth
