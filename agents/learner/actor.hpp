// The forward pass while acting, on the learner's device, for a range of the environments.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/learner/acting_cache.hpp"
#include "agents/learner/agent.hpp"
#include "agents/nn/fused/fused_network.hpp"

namespace berth {

// One network a part of the work, all sharing the memory of the first one's parameters: Network::Forward is
// one thread at a time.
class Replicas {
 public:
  // `fused`: each replica also has a fused form where its network has one and runs on the CPU.
  Replicas(const AgentSetup& setup, int count, bool fused = false);
  Network& operator[](int part) { return *networks_[static_cast<std::size_t>(part)]; }
  int count() const { return static_cast<int>(networks_.size()); }
  const std::vector<torch::Tensor>& parameters(int part) const {
    return parameters_[static_cast<std::size_t>(part)];
  }
  // The same function of the same parameters, or null.
  FusedNetwork* fused(int part) { return fused_[static_cast<std::size_t>(part)].get(); }
  // Its gradients as tensors over its memory, one a parameter.
  const std::vector<torch::Tensor>& fused_gradients(int part) const {
    return fused_gradients_[static_cast<std::size_t>(part)];
  }
  // Of all fused passes so far.
  double multiply_adds() const;

 private:
  void AddFused(const AgentSetup& setup, Network& network);

  std::vector<std::shared_ptr<Network>> networks_;
  std::vector<std::vector<torch::Tensor>> parameters_, fused_gradients_;
  std::vector<std::unique_ptr<FusedNetwork>> fused_;
};

// Acts by a network on its device.
class Actor final : public ActingCache {
 public:
  // For `envs` environments. `network`, and `fused`, which computes in its place where it is given, must
  // outlive it; one thread at a time uses them.
  Actor(const AgentSetup& setup, Network& network, int envs, FusedNetwork* fused = nullptr);

  void Invalidate() override;
  // Not cached: rows [B, D] to scores [B, A] and values [B].
  void Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values);
  // Best actions for rows [B, D] and [B, A], not cached.
  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions);

 private:
  void Compute(std::span<const float* const> rows, std::span<float> scores, std::span<float> values,
               std::span<float> next) override;
  void Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values,
               std::span<float> next);

  torch::Device device_;
  Network& network_;
  FusedNetwork* fused_;
  bool packed_ = false;  // fused_ knows the present parameters
  std::size_t size_, actions_, memory_;
  std::vector<float> batch_;  // rows together, where not fused
  std::vector<const float*> row_pointers_;
};

}  // namespace berth
