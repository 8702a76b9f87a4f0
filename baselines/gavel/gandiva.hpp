// Gandiva's packing by trial (Xiao et al., OSDI 2018 §3.2-3.3) in the form in which Gavel compares with it
// (its policies/gandiva.py): while the cluster has a GPU for everybody, the isolated split; otherwise jobs
// are paired at random, pairs that gain nothing are dissolved, and the isolated split is over pairs and jobs
// left alone.
//
// The reference draws from an unseeded generator: no single draw can be reproduced, only the rule. Here a
// draw comes from the scenario's seed. Where the reference pairs jobs that cannot share on any type (two
// gangs of the same size above 1, whose entries are 0), such a try draws nothing, so that nobody waits in a
// pair that cannot run.
#pragma once

#include <optional>
#include <vector>

#include "baselines/gavel/objective.hpp"
#include "env/base/rng.hpp"

namespace berth::gavel {

class GandivaPacking final : public PackedObjective {
 public:
  void Reset(std::uint64_t seed) override;
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override;

 private:
  std::optional<Stream> random_;
  std::vector<int> partner_;  // by key: the key of the job it is paired with, -1 = none
};

// sum over types and both members of r_pair / r_alone; 0 = they can share nowhere.
double PairingGain(const PackedProblem& problem, int a, int b);

}  // namespace berth::gavel
