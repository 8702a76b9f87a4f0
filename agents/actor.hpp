// The forward pass while acting, on the learner's device, for a range of the environments. Rows whose
// observation did not change since the last call are not computed again: within one instant Berth's
// micro-actions change only the mask, so most steps need no forward pass at all.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/agent.hpp"

namespace berth {

// One network a part of the work, all sharing the memory of the first one's parameters: Network::Forward is
// one thread at a time.
class Replicas {
 public:
  Replicas(const AgentSetup& setup, int count);
  Network& operator[](int part) { return *networks_[static_cast<std::size_t>(part)]; }
  int count() const { return static_cast<int>(networks_.size()); }
  const std::vector<torch::Tensor>& parameters(int part) const {
    return parameters_[static_cast<std::size_t>(part)];
  }

 private:
  std::vector<std::shared_ptr<Network>> networks_;
  std::vector<std::vector<torch::Tensor>> parameters_;
};

class Actor {
 public:
  // For `envs` environments. `network` must outlive it; one thread at a time uses it.
  Actor(const AgentSetup& setup, Network& network, int envs);

  // observation [envs, D]. Refreshes scores and values of the rows that changed.
  void Evaluate(std::span<const float> observation);
  void Invalidate() { valid_ = false; }                      // the parameters changed
  std::span<const float> scores(int env) const;              // [A]
  std::span<const float> values() const { return values_; }  // [envs]
  // Did this row change at the last Evaluate? Invalidate makes every row changed.
  bool changed(int env) const { return changed_[static_cast<std::size_t>(env)] != 0; }

  // Not cached: rows [B, D] to scores [B, A] and values [B].
  void Forward(std::span<const float> observation, std::span<float> scores, std::span<float> values);
  // Best actions for rows [B, D] and [B, A], not cached.
  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions);

 private:
  torch::Device device_;
  Network& network_;
  std::size_t envs_, size_, actions_;
  bool valid_ = false;
  std::vector<float> observation_, scores_, values_;        // [N, D], [N, A], [N]
  std::vector<float> batch_, batch_scores_, batch_values_;  // the changed rows
  std::vector<std::uint8_t> changed_;
  std::vector<int> rows_;
};

}  // namespace berth
