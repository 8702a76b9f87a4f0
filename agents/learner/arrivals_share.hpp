// How much of what an advantage says is about who arrived, not about what was done: the noise that
// env/gym/signals/learning_signal.hpp is there to take away. Mao et al., ICLR 2019, "Variance Reduction for
// Reinforcement Learning in Input-Driven Environments".
//
// R^2 of the linear regression of the advantage on two sums over the steps that it was estimated from, each
// weighted as its temporal differences are: arrivals, and their work, both less what came on average in as
// much time. Under Poisson arrivals these sums have mean 0 whatever the policy does, so what they explain is
// chance. Other environments would have to see the same arrivals for an analysis of variance between groups;
// here each draws its own, and a regression needs no more than the rollout. It is a lower bound: what
// arrivals change in other ways than in proportion to their number and work counts as unexplained.
#pragma once

#include <span>

#include "agents/learner/returns.hpp"
#include "agents/ranks/ranks.hpp"

namespace berth {

struct NewJobs {
  std::span<const float> jobs, work;  // [T, N] that arrived during the step, as in StepBuffers
};

// Of `advantage` [T, N], which Gae estimated from `input` with these lambdas; 0 to 1. NaN where nothing
// arrived or the advantage does not vary. Of several ranks all call it, each with its own rows, and get what
// one process with all rows would. O(T N).
double ArrivalsShare(const GaeInput& input, double lambda, double lambda_within_instant,
                     const NewJobs& arrived, std::span<const float> advantage, const Ranks& ranks = {});

}  // namespace berth
