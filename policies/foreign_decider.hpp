// A frozen policy that decides for a cluster that is not a simulation of ours (foreign_cluster.hpp): the same
// decisions as `policy(file=...)` takes in Berth's simulator in the same state (tests/c_api_test.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/sim/decision.hpp"
#include "policies/foreign_cluster.hpp"
#include "policies/policy_scheduler.hpp"

namespace berth {

// Thread rule: one thread at a time; two instances share nothing.
class ForeignDecider {
 public:
  // `name` stands for the bundle in errors. Throws Error: a policy of a flat environment, one whose
  // observation has a block of nodes, devices or features (BlockInfo::foreign), which would see zeros where
  // it was trained on something, or one of semantics `commit`, whose chosen job blocks from one decision to
  // the next, which a decision by itself cannot say.
  ForeignDecider(PolicyBundle bundle, const std::string& name);

  const PolicyBundle& bundle() const { return policy_.bundle(); }
  // type_of_job [J], in the caller's order: the GPU type that each job runs on from now on, -1 = it waits.
  // Throws Error: what ForeignView does not take, or a cluster that the network is not for.
  void Decide(const ForeignCluster& cluster, std::span<int> type_of_job);
  // scores [J, G], in the caller's order: the network's logits of (job, type), higher is better;
  // -infinity where the job cannot run, or the network does not see it. Throws as Decide.
  void Score(const ForeignCluster& cluster, std::span<float> scores);

 private:
  void CheckSteps(const ForeignCluster& cluster) const;

  PolicyScheduler policy_;
  bool reads_steps_ = false;  // a job's attained_steps
  Decision decision_;
};

}  // namespace berth
