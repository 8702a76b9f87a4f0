// An objective as the round mechanism's source of allocations: describes the problem, asks, falls back; and
// the scheduler that the two make. A job that can run on nothing that is in service now, or IsApart, is no
// part of the problem, and has no share; on a type with fewer GPUs now than its gang it has no speed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baselines/gavel/least_change.hpp"
#include "baselines/gavel/objective.hpp"
#include "baselines/gavel/round_mechanism.hpp"
#include "env/sim/scheduler.hpp"

namespace berth::gavel {

class PolicySource : public AllocationSource {
 public:
  virtual bool reads_future() const = 0;  // then the scheduler needs Knowledge::kEstimate
  virtual void Reset(const ClusterView& view) = 0;
};

std::unique_ptr<Scheduler> RunInRounds(std::unique_ptr<PolicySource> source, const MechanismOptions& options);

// What stands in where an objective has no answer, as its row says: what each job had, or the isolated split.
// Counted, and said once on stderr.
class StandIn {
 public:
  StandIn(std::string name, FallBack fall_back) : name_(std::move(name)), fall_back_(fall_back) {}
  void Reset(const ClusterView& view);
  void Remember(std::span<const int> jobs, const Allocation& x);
  void Take(const Problem& problem, std::span<const int> jobs, const char* reason, Allocation& x);
  void TakePrevious(std::span<const int> jobs, Allocation& x) const;  // of those who had one
  const std::string& name() const { return name_; }
  FallBack fall_back() const { return fall_back_; }
  int count() const { return count_; }

 private:
  std::string name_;  // for people
  FallBack fall_back_;
  Allocation previous_;                // [J, G]
  std::vector<std::uint8_t> had_one_;  // [J]
  int count_ = 0;
};

class PolicyAllocations final : public PolicySource {
 public:
  // `least_change`: beside the last allocation where the objective has several as good ones.
  PolicyAllocations(std::string name, FallBack fall_back, std::unique_ptr<Objective> objective,
                    std::optional<LeastChange> least_change = {})
      : objective_(std::move(objective)),
        stand_in_(std::move(name), fall_back),
        least_change_(std::move(least_change)) {}

  bool reads_future() const override { return objective_->reads_future(); }
  void Reset(const ClusterView& view) override;
  void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) override;
  int fall_backs() const { return stand_in_.count(); }

 private:
  std::unique_ptr<Objective> objective_;
  StandIn stand_in_;
  std::vector<int> placeable_;  // who is part of the problem: whom the objective is asked about
  Problem problem_;
  std::optional<LeastChange> least_change_;
  Promise promise_;
};

// With pairs: those still here fall back with their jobs.
class PackedAllocations final : public PolicySource {
 public:
  PackedAllocations(std::string name, FallBack fall_back, std::unique_ptr<PackedObjective> objective)
      : objective_(std::move(objective)), stand_in_(std::move(name), fall_back) {}

  bool reads_future() const override { return objective_->reads_future(); }
  void Reset(const ClusterView& view) override;
  void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) override;
  const PairShares* pairs() const override { return &pairs_; }
  int fall_backs() const { return stand_in_.count(); }

 private:
  void Describe(const ClusterView& view, std::span<const int> jobs);
  void KeepPairs(const ClusterView& view);

  std::unique_ptr<PackedObjective> objective_;
  StandIn stand_in_;
  std::vector<int> placeable_;  // as above
  PackedProblem problem_;
  PackedAllocation answer_;
  PairShares pairs_;  // by the scenario's job indices
};

}  // namespace berth::gavel
