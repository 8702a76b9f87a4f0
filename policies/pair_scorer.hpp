// The default architecture: one small network shared by all (job, GPU type) pairs, plus pooled context.
// Equivariant to permutations of jobs and of types, so it takes any Q and any G at run time (learners.md
// §2.2: RLScheduler's kernel network, SC 2020, with Decima-style pooled context and factored machine types).
//
//   e_q   = act(job q)                                                  layer "job"
//   t_g   = act(type g)                                                 layer "type"
//   c     = act(global ++ mean_q e_q ++ max_q e_q ++ mean_g t_g)        layer "context", over present jobs
//   h_qg  = act(job q ++ pair qg ++ type g ++ c), then layers - 1 more  layers "pair_0", "pair_1", ...
//   score = w h_qg [+ s (job q ++ pair qg ++ type g)]                   layer "score" [, "skip"]
//   done  = w' act(c)                                                   layers "done_hidden", "done"
//   value = w'' act(c)                                                  layers "value_hidden", "value"
//
// The term in brackets stands where skip=true: a score linear in what the pair shows (the "wide" part beside
// the deep one: Cheng et al., Wide & Deep Learning, DLRS 2016). The best rules found are nearly linear in
// these channels, and a ReLU network takes long to become linear under noisy gradients. Its bias is that of
// every layer: like that of "score" it moves all pairs against `done`.
//
// Layer pair_0 is computed as a sum of its parts, each once a job, pair, type or state. Scores of absent rows
// are 0.
#pragma once

#include <span>

#include "env/base/spec.hpp"
#include "policies/dense.hpp"

namespace berth {

struct PairScorerOptions {
  int width = 0;   // H
  int layers = 0;  // hidden layers over a pair
  Activation activation = Activation::kRelu;
  bool skip = false;  // a linear term of the pair's inputs beside its hidden layers
};
PairScorerOptions ReadPairScorerOptions(Params& params);

}  // namespace berth
