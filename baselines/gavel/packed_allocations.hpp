// A packed objective as the round mechanism's source of allocations: describes the problem, asks, falls back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/policy_source.hpp"

namespace berth::gavel {

// Where the objective has no answer, the fall-back stands in, as for policies that do not pack: what each job
// and pair still here had, or the isolated split. Counted, and said once on stderr.
class PackedAllocations final : public PolicySource {
 public:
  PackedAllocations(std::string name, FallBack fall_back, std::unique_ptr<PackedObjective> objective)
      : name_(std::move(name)), fall_back_(fall_back), objective_(std::move(objective)) {}

  bool reads_future() const override { return objective_->reads_future(); }
  void Reset(const ClusterView& view) override;
  void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) override;
  const PairShares* pairs() const override { return &pairs_; }
  int fall_backs() const { return fall_backs_; }

 private:
  void Describe(const ClusterView& view, std::span<const int> jobs);
  void TakeFallBack(const ClusterView& view, std::span<const int> jobs);

  std::string name_;  // for people
  FallBack fall_back_;
  std::unique_ptr<PackedObjective> objective_;
  PackedProblem problem_;
  PackedAllocation answer_;
  PairShares pairs_;                   // by the scenario's job indices
  Allocation previous_;                // [J, G] of jobs alone
  std::vector<std::uint8_t> had_one_;  // [J]
  int fall_backs_ = 0;
};

}  // namespace berth::gavel
