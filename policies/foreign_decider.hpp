// A frozen policy that decides for a cluster that is not a simulation of ours (foreign_cluster.hpp): the same
// decisions as `policy(file=...)` takes in Berth's simulator in the same state (tests/c_api_test.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/decision.hpp"
#include "policies/foreign_cluster.hpp"
#include "policies/policy_scheduler.hpp"

namespace berth {

// What a decision orders, of jobs by the caller's positions.
struct ForeignCommand {
  CommandKind kind;
  int job;
  int type = -1;  // kStart, kMove, kPack: the GPU type
  int width = 0;  // kStart, kMove: GPUs
  int host = -1;  // kPack: whose GPU it shares
};

// Thread rule: one thread at a time; two instances share nothing.
class ForeignDecider {
 public:
  // What may be asked of it: Decide and Score, of policies that put jobs on types and do nothing else; or
  // DecideCommands, of all whose kinds of actions need jobs, types, widths and pairs alone (resize, pack,
  // reject).
  enum class Answers : std::uint8_t { kTypes, kCommands };
  // `name` stands for the bundle in errors. Throws Error: a policy of a flat environment, one whose
  // observation has a block of nodes, devices or features (BlockInfo::foreign), which would see zeros where
  // it was trained on something, or one of semantics `commit`, whose chosen job blocks from one decision to
  // the next, which a decision by itself cannot say, a network with a memory likewise, or one of actions that
  // it is not made for, by their names.
  ForeignDecider(PolicyBundle bundle, const std::string& name, Answers answers = Answers::kTypes);

  const PolicyBundle& bundle() const { return policy_.bundle(); }
  // type_of_job [J], in the caller's order: the GPU type that each job runs on from now on, -1 = it waits.
  // Throws Error: what ForeignView does not take, or a cluster that the network is not for.
  void Decide(const ForeignCluster& cluster, std::span<int> type_of_job);
  // The commands, which leave who is not named as it is. Of a cluster that need not be `detailed`: it is
  // taken for that. Throws as Decide, and where the policy reads what the cluster does not state.
  // Answers::kCommands.
  std::span<const ForeignCommand> DecideCommands(ForeignCluster cluster);
  bool commands() const { return policy_.point().grid() != nullptr; }  // more than `start`
  // scores [J, G], in the caller's order: the network's logits of (job, type), higher is better;
  // -infinity where the job cannot run, or the network does not see it. Throws as Decide.
  void Score(const ForeignCluster& cluster, std::span<float> scores);

 private:
  void CheckSteps(const ForeignCluster& cluster) const;
  void CheckActions(Answers answers, const std::string& name);

  PolicyScheduler policy_;
  bool reads_steps_ = false;  // a job's attained_steps
  bool reads_widths_ = false, reads_pairs_ = false;
  Features features_;  // that its actions and blocks are of, as they are by default
  Decision decision_;
  std::vector<ForeignCommand> commands_;
};

}  // namespace berth
