// An objective as the round mechanism's source of allocations: describes the problem, asks, falls back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baselines/gavel/objective.hpp"
#include "baselines/gavel/policy_source.hpp"

namespace berth::gavel {

// Where the objective has no answer, its row's fall-back stands in; counted, and said once on stderr.
class PolicyAllocations final : public PolicySource {
 public:
  PolicyAllocations(const char* name, FallBack fall_back, std::unique_ptr<Objective> objective)
      : name_(name), fall_back_(fall_back), objective_(std::move(objective)) {}

  bool reads_future() const override { return objective_->reads_future(); }
  void Reset(const ClusterView& view) override;
  void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) override;
  int fall_backs() const { return fall_backs_; }

 private:
  void TakeFallBack(std::span<const int> jobs, Allocation& x);

  const char* name_;
  FallBack fall_back_;
  std::unique_ptr<Objective> objective_;
  Problem problem_;
  Allocation previous_;                // [J, G]
  std::vector<std::uint8_t> had_one_;  // [J]
  int fall_backs_ = 0;
};

}  // namespace berth::gavel
