// The default architecture: one small network shared by all (job, GPU type) pairs, plus pooled context.
// Equivariant to permutations of jobs and of types, so it takes any Q and any G at run time. After
// RLScheduler's kernel network (Zhang et al., SC 2020), with Decima's pooled context (Mao et al., SIGCOMM
// 2019) and factored machine types.
//
//   e_q   = act(job q)                                                  layer "job"
//   t_g   = act(type g)                                                 layer "type"
//   c     = act(global ++ mean_q e_q ++ max_q e_q ++ mean_g t_g)        layer "context", over present jobs
//   h_qg  = act(job q ++ pair qg ++ type g ++ c), then layers - 1 more  layers "pair_0", "pair_1", ...
//   score = w h_qg [+ s (job q ++ pair qg ++ type g)]                   layer "score" [, "skip"]
//   done  = w' act(c)                                                   layers "done_hidden", "done"
//   value = w'' act(c)                                                  layers "value_hidden", "value"
//
// With memory=M stands c ++ h' for c where h_qg, done and value read it, h' being of memory.hpp with x = c.
//
// The term in brackets stands where skip=true: a score linear in what the pair shows (the "wide" part beside
// the deep one: Cheng et al., Wide & Deep Learning, DLRS 2016). The best rules found are nearly linear in
// these channels, and a ReLU network takes long to become linear under noisy gradients. Its bias is that of
// every layer: like that of "score" it moves all pairs against `done`.
#pragma once

#include <vector>

#include "env/base/spec.hpp"
#include "policies/networks/description.hpp"

namespace berth {

// The layers that a rule known beforehand is written into: what reads a pair's channels, what makes its score
// of them, and the linear term.
inline constexpr const char *kPairInputLayer = "pair_0", *kPairScoreLayer = "score", *kPairSkipLayer = "skip";

// Throws Error, in the name of `network`, for a layout without jobs and types, or of jobs alone.
void RequirePairs(const char* network, const ObservationLayout& layout);

// How pairs are scored, and what a state's network ends with: h_qg of `inputs` side by side, and from there
// on as above. Draws the linear term last.
struct PairScores {
  std::vector<ValueId> inputs;
  std::vector<ValueId> context;  // what is known of the state
  int width, layers;
  Activation act;
  bool skip;
};
void ScorePairs(NetworkDescription& net, const PairScores& scores);

// The options that pair_scorer has, of any network that ends as it does.
struct PairOptions {
  int width, layers;
  Activation act;
  bool skip;
  int memory;
};
PairOptions ReadPairOptions(Params& params);
// c of what is known of the jobs (`summary`, rows of jobs), and the pairs' scores by it and by what a pair
// shows, `known` beside it.
void PoolAndScore(NetworkDescription& net, const PairOptions& options, ValueId summary,
                  const std::vector<ValueId>& known);

}  // namespace berth
