// A frozen policy as a Scheduler: what training did at a decision point (env/gym/decision_point.hpp), with
// the network's scores in place of a learner's draws (env/gym/score_order.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/gym/decision_point.hpp"
#include "env/gym/score_order.hpp"
#include "env/sim/scheduler.hpp"
#include "policies/bundle.hpp"
#include "policies/inference.hpp"

namespace berth {

class PolicyScheduler final : public Scheduler {
 public:
  // `name` stands for the bundle in errors. sample: draw from the policy's distribution instead of taking its
  // best action. Throws Error: a policy of a flat environment, or one that reserves in a process without.
  PolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample);

  const PolicyBundle& bundle() const { return bundle_; }
  Knowledge knowledge() const override { return bundle_.mdp.knowledge; }
  bool resizes() const override { return resizes_; }
  // Throws Error: a cluster that the network is not for.
  void Reset(const ClusterView& view) override;
  // Throws Error naming the job: one without a request where the policy backfills and knows no estimate.
  void Decide(const ClusterView& view, Decision& decision) override;

  // [Q G (+ 1)] the network's scores of all actions at the point that has begun, rows as point().visible().
  // Semantics redecide; after Reset or Decide. A memory is as it was, whatever the point leads to.
  std::span<const float> Score(const ClusterView& view);
  const DecisionPoint& point() const { return point_; }
  // What the run has left in the network's memory for a decision now; empty = it has none, or has seen
  // nothing.
  std::span<const float> StateAt(const ClusterView& view) const;

 private:
  void CheckRequests(const ClusterView& view) const;
  void FillOneByOne(const ClusterView& view, Stream* noise);
  void Evaluate(const ClusterView& view);  // of the candidates that were gathered
  void Keep(const ClusterView& view);      // what was evaluated last is acted on
  bool Remembers() const { return !next_.empty(); }

  PolicyBundle bundle_;
  std::string name_;
  bool sample_, any_size_, resizes_;
  std::unique_ptr<FrozenNetwork> network_;
  DecisionPoint point_;
  ScoreOrder order_;
  Stream stream_{0, Purpose::kScheduler};
  std::vector<float> scores_;
  // The memory as of the last instant at which something was decided, and after it; as in training, an
  // instant changes it once, by what was seen last in it.
  std::vector<float> state_, kept_, next_;
  double kept_at_s_ = 0.0;  // that instant
};

}  // namespace berth
