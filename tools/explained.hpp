// One decision point of a policy, scored: what `berth explain` tells.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/gym/decision_point.hpp"
#include "policies/bundle.hpp"
#include "policies/inference.hpp"

namespace berth {

// "start 17 on v100, stop 12", by the jobs' ids.
std::string DecisionText(const ClusterView& view, const Decision& decision);

// Thread rule: one thread. The bundle and the view outlive it.
class Explained {
 public:
  // A point at which the policy decides something. Throws Error: commands that the cluster lacks.
  // `state`: what the network's memory is there (PolicyScheduler::StateAt).
  Explained(const PolicyBundle& bundle, const ClusterView& view, std::span<const float> state);

  // Takes the best command again and again, as the policy does; the actions in that order. Once.
  std::vector<int> Choose();
  Decision Decide();  // what they come to

  // With the channels of each block at 0: how the score of `action` changes, and what would be best.
  struct Without {
    std::string block;
    double change = 0.0;
    int best = -1;  // -1 = nothing is legal
  };
  std::vector<Without> Occlude(int action);

  std::string Text(int action) const;  // "start job 17 on v100", "clock 2, clock 0.80", "done"
  int done() const { return point_.done(); }
  std::span<const float> scores() const { return scores_; }       // [actions] as the point begins
  std::span<const std::uint8_t> legal() const { return legal_; }  // [actions] then

 private:
  std::vector<float> Score(std::span<const float> observation);

  const PolicyBundle& bundle_;
  const ClusterView& view_;
  std::unique_ptr<FrozenNetwork> network_;
  std::vector<float> state_;
  DecisionPoint point_;
  std::vector<std::string> channels_;  // EncoderInfo::Describe of the process
  std::vector<float> first_, scores_;  // as the point begins
  std::vector<std::uint8_t> legal_;
};

}  // namespace berth
