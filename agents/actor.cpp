#include "agents/actor.hpp"

#include <algorithm>
#include <cstring>

#include "env/check.hpp"

namespace berth {
namespace {

// Fewer rows than this a worker are not worth waking it.
constexpr std::int64_t kRowsPerWorker = 4;

}  // namespace

Replicas::Replicas(const AgentSetup& setup, int count) {
  for (int w = 0; w < count; ++w) {
    auto network = MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed);
    network->to(setup.device);
    parameters_.push_back(network->parameters());
    if (w > 0) {
      for (std::size_t k = 0; k < parameters_[0].size(); ++k) {
        parameters_.back()[k].set_data(parameters_[0][k].data());
      }
    }
    networks_.push_back(std::move(network));
  }
}

Actor::Actor(const AgentSetup& setup, Replicas& replicas, Workers& workers)
    : device_(setup.device),
      replicas_(replicas),
      workers_(workers),
      envs_(static_cast<std::size_t>(setup.num_envs)),
      size_(static_cast<std::size_t>(setup.layout.size())),
      actions_(static_cast<std::size_t>(setup.num_actions)),
      observation_(envs_ * size_),
      scores_(envs_ * actions_),
      values_(envs_),
      batch_(envs_ * size_),
      batch_scores_(envs_ * actions_),
      batch_values_(envs_),
      changed_(envs_) {
  rows_.reserve(envs_);
}

void Actor::Invalidate() {
  valid_ = false;
}

std::span<const float> Actor::scores(int env) const {
  return std::span<const float>(scores_).subspan(static_cast<std::size_t>(env) * actions_, actions_);
}

void Actor::Evaluate(std::span<const float> observation) {
  BERTH_CHECK(observation.size() == envs_ * size_, observation.size(), " ", envs_ * size_);
  rows_.clear();
  for (std::size_t i = 0; i < envs_; ++i) {
    const float* row = observation.data() + i * size_;
    changed_[i] = !valid_ || std::memcmp(row, observation_.data() + i * size_, size_ * sizeof(float)) != 0;
    if (!changed_[i]) continue;
    std::copy_n(row, size_, observation_.data() + i * size_);
    std::copy_n(row, size_, batch_.data() + rows_.size() * size_);
    rows_.push_back(static_cast<int>(i));
  }
  valid_ = true;
  if (rows_.empty()) return;
  const std::size_t count = rows_.size();
  Forward(std::span<const float>(batch_).first(count * size_),
          std::span<float>(batch_scores_).first(count * actions_),
          std::span<float>(batch_values_).first(count));
  for (std::size_t k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(rows_[k]);
    std::copy_n(batch_scores_.data() + k * actions_, actions_, scores_.data() + i * actions_);
    values_[i] = batch_values_[k];
  }
}

void Actor::Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values) {
  const auto rows = static_cast<std::int64_t>(values.size());
  const int parts = static_cast<int>(
      std::clamp<std::int64_t>(rows / kRowsPerWorker, 1, std::min(replicas_.count(), workers_.count())));
  const auto part = [&](int worker) {
    if (worker >= parts) return;
    const c10::InferenceMode inference;
    const PartRange slice = PartOf(rows, worker, parts);
    const std::int64_t n = slice.end - slice.begin;
    const auto begin = static_cast<std::size_t>(slice.begin);
    const torch::Tensor host = torch::from_blob(const_cast<float*>(observation.data()) + begin * size_,
                                                {n, static_cast<std::int64_t>(size_)});
    const NetworkOutput out = replicas_[worker].Forward(host.to(device_));
    const torch::Tensor all_scores = out.scores.to(torch::kCPU).contiguous();
    const torch::Tensor all_values = out.value.to(torch::kCPU).contiguous();
    BERTH_CHECK(all_scores.numel() == n * static_cast<std::int64_t>(actions_) && all_values.numel() == n,
                all_scores.sizes(), " ", all_values.sizes());
    std::copy_n(all_scores.data_ptr<float>(), all_scores.numel(), scores.data() + begin * actions_);
    std::copy_n(all_values.data_ptr<float>(), n, values.data() + begin);
  };
  if (parts == 1) {
    part(0);
  } else {
    workers_.Run(part);
  }
}

}  // namespace berth
