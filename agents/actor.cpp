#include "agents/actor.hpp"

#include <algorithm>
#include <cstring>

#include "agents/masked_categorical.hpp"
#include "env/check.hpp"

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

Actor::Actor(const AgentSetup& setup, Network& network, int envs, FusedNetwork* fused)
    : device_(setup.device),
      network_(network),
      fused_(fused),
      envs_(static_cast<std::size_t>(envs)),
      size_(static_cast<std::size_t>(setup.layout.size())),
      actions_(static_cast<std::size_t>(setup.num_actions)),
      observation_(envs_ * size_),
      scores_(envs_ * actions_),
      values_(envs_),
      batch_scores_(envs_ * actions_),
      batch_values_(envs_),
      changed_(envs_) {
  rows_.reserve(envs_);
}

std::span<const float> Actor::scores(int env) const {
  return std::span<const float>(scores_).subspan(static_cast<std::size_t>(env) * actions_, actions_);
}

std::span<const float> Actor::observation(int env) const {
  return std::span<const float>(observation_).subspan(static_cast<std::size_t>(env) * size_, size_);
}

void Actor::Evaluate(std::span<const float> observation, std::span<const std::uint8_t> fresh) {
  BERTH_CHECK(observation.size() == envs_ * size_ && (fresh.empty() || fresh.size() == envs_),
              observation.size(), " ", envs_ * size_);
  rows_.clear();
  for (std::size_t i = 0; i < envs_; ++i) {
    const bool same = valid_ && !fresh.empty() && fresh[i] == 0;
    const float* row = observation.data() + i * size_;
    changed_[i] =
        !same && (!valid_ || std::memcmp(row, observation_.data() + i * size_, size_ * sizeof(float)) != 0);
    if (!changed_[i]) continue;
    std::copy_n(row, size_, observation_.data() + i * size_);
    rows_.push_back(static_cast<int>(i));
  }
  valid_ = true;
  if (rows_.empty()) return;
  const std::size_t count = rows_.size();
  const auto scores = std::span<float>(batch_scores_).first(count * actions_);
  const auto values = std::span<float>(batch_values_).first(count);
  if (fused_ != nullptr) {
    row_pointers_.clear();
    for (const int i : rows_) row_pointers_.push_back(this->observation(i).data());
    ForwardFused(row_pointers_, scores, values);
  } else {
    batch_.resize(envs_ * size_);
    for (std::size_t k = 0; k < count; ++k)
      std::copy_n(this->observation(rows_[k]).data(), size_, batch_.data() + k * size_);
    Forward(std::span<const float>(batch_).first(count * size_), scores, values);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(rows_[k]);
    std::copy_n(batch_scores_.data() + k * actions_, actions_, scores_.data() + i * actions_);
    values_[i] = batch_values_[k];
  }
}

void Actor::Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values) {
  if (fused_ != nullptr) {
    row_pointers_.clear();
    for (std::size_t r = 0; r < values.size(); ++r) row_pointers_.push_back(observation.data() + r * size_);
    return ForwardFused(row_pointers_, scores, values);
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
}

void Actor::ForwardFused(std::span<const float* const> observations, std::span<float> scores,
                         std::span<float> values) {
  if (!packed_) fused_->Refresh();
  packed_ = true;
  for (std::size_t begin = 0; begin < values.size();) {
    const auto rows = observations.subspan(begin);
    const std::size_t count = fused_->ChunkOf(rows);
    fused_->Forward(rows.first(count), scores.data() + begin * actions_, values.data() + begin);
    begin += count;
  }
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
