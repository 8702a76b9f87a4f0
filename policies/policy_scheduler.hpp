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
  // best action. Throws Error: a policy of a flat environment.
  PolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample);

  const PolicyBundle& bundle() const { return bundle_; }
  Knowledge knowledge() const override { return bundle_.mdp.knowledge; }
  // Throws Error: a cluster that the network is not for.
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

  // [Q G (+ 1)] the network's scores of all actions at the point that has begun, rows as point().visible().
  // Semantics redecide; after Reset or Decide.
  std::span<const float> Score(const ClusterView& view);
  const DecisionPoint& point() const { return point_; }

 private:
  void FillOneByOne(const ClusterView& view, Stream* noise);
  void Evaluate(const ClusterView& view);  // of the candidates that were gathered

  PolicyBundle bundle_;
  std::string name_;
  bool sample_, any_size_;
  std::unique_ptr<FrozenNetwork> network_;
  DecisionPoint point_;
  ScoreOrder order_;
  Stream stream_{0, Purpose::kScheduler};
  std::vector<float> scores_;
};

}  // namespace berth
