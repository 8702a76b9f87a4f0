// The default architecture: one small network shared by all (job, GPU type) pairs, plus pooled context.
// Equivariant to permutations of jobs and of types, so it takes any Q and any G at run time (learners.md
// §2.2: RLScheduler's kernel network, SC 2020, with Decima-style pooled context and factored machine types).
//
//   e_q     = act(job q)                                                                           layer
//   "job" t_g     = act(type g) layer "type" c       = act(global ++ mean_q e_q ++ max_q e_q ++ mean_g t_g)
//   over present jobs             layer "context" h_qg    = act(job q ++ pair qg ++ type g ++ c), then layers
//   - 1 more                           layers "pair_0", ... score   = w h_qg;   done = w' act(c);   value =
//   w'' act(c)       layers "score"; "done_hidden", "done"; "value_..."
//
// Layer pair_0 is computed as a sum of its parts, each once a job, pair, type or state. Scores of absent rows
// are 0.
#pragma once

#include <span>

#include "env/spec.hpp"
#include "policies/dense.hpp"

namespace berth {

struct PairScorerOptions {
  int width = 0;   // H
  int layers = 0;  // hidden layers over a pair
  Activation activation = Activation::kRelu;
};
PairScorerOptions ReadPairScorerOptions(Params& params);

}  // namespace berth
