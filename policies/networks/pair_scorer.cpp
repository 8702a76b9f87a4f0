#include "policies/networks/pair_scorer.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/networks/memory.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPairScorerParams[] = {
    {"width", "32", "units of every hidden layer, 1 to 1024"},
    {"layers", "2", "hidden layers over a (job, type) pair, 1 to 8"},
    {"activation", "relu", "relu or tanh"},
    {"skip", "false", "true adds a linear term of the pair's own inputs to its score"},
    kMemoryParam,
};

void DescribePairScorer(Params& params, NetworkDescription& net) {
  const PairOptions o = ReadPairOptions(params);
  RequirePairs("pair_scorer", net.layout());
  PoolAndScore(net, o, net.Dense("job", {net.jobs()}, o.width, kHiddenGain, o.act), {});
}

}  // namespace

void RequirePairs(const char* network, const ObservationLayout& layout) {
  if (layout.q <= 0 || layout.g <= 0) {
    throw Error(Join(network, ": expected an observation of jobs and GPU types, found a flat one; use mlp"));
  }
  // Of channels of jobs alone it cannot tell whether the first says that a job is there, as it does in any
  // list of blocks, or is the published observation's own.
  if (layout.pair_channels + layout.type_channels + layout.global_channels == 0) {
    throw Error(Join(network, ": expected an observation that tells of more than jobs, such as ",
                     kObservationV1, ", found one of ", layout.job_channels,
                     " channels a job alone; use mlp"));
  }
}

PairOptions ReadPairOptions(Params& params) {
  const auto integer = [&](const char* name, int most) {
    return static_cast<int>(params.Integer(name, 1, most));
  };
  return {integer("width", 1024), integer("layers", 8),
          params.Choice("activation", {"relu", "tanh"}) == 0 ? Activation::kRelu : Activation::kTanh,
          params.Bool("skip"), ReadMemory(params)};
}

void PoolAndScore(NetworkDescription& net, const PairOptions& o, ValueId summary,
                  const std::vector<ValueId>& known) {
  const auto hidden = [&](const std::string& layer, const std::vector<ValueId>& inputs) {
    return net.Dense(layer, inputs, o.width, kHiddenGain, o.act);
  };
  const ValueId mean = net.Mean(summary), most = net.Max(summary);
  std::vector<ValueId> pooled = {net.global(), mean, most};
  if (net.layout().type_channels > 0) pooled.push_back(net.Mean(hidden("type", {net.types()})));
  const std::vector<ValueId> context = WithMemory(net, hidden("context", pooled), o.memory);
  std::vector<ValueId> named = {net.jobs(), net.pairs(), net.types()};
  named.insert(named.end(), known.begin(), known.end());
  named.insert(named.end(), context.begin(), context.end());
  ScorePairs(net, {named, context, o.width, o.layers, o.act, o.skip});
}

void ScorePairs(NetworkDescription& net, const PairScores& s) {
  const auto hidden = [&](const std::string& layer, const std::vector<ValueId>& inputs) {
    return net.Dense(layer, inputs, s.width, kHiddenGain, s.act);
  };
  ValueId pair = hidden(kPairInputLayer, s.inputs);
  for (int i = 1; i < s.layers; ++i) pair = hidden(Join("pair_", i), {pair});
  ValueId score = net.Dense(kPairScoreLayer, {pair}, net.outputs(), kScoreGain);
  if (s.skip) {
    score = net.AddDense(score, kPairSkipLayer, {net.jobs(), net.pairs(), net.types()}, kScoreGain);
  }
  ValueId scores = net.Actions(score);
  if (net.has_done()) {
    const ValueId done = hidden("done_hidden", s.context);
    scores = net.Concat({scores, net.Dense("done", {done}, net.outputs(), kScoreGain)});
  }
  const ValueId value = hidden("value_hidden", s.context);
  net.Answer(scores, net.Dense("value", {value}, 1, kValueGain));
  if (s.skip) net.DrawLast(kPairSkipLayer);
}

ArchitectureInfo PairScorerArchitecture() {
  return {"pair_scorer",
          "one network shared by all (job, type) pairs, plus pooled context; any queue, any cluster",
          "after RLScheduler's kernel network (Zhang et al., SC 2020) and Decima (Mao et al., SIGCOMM 2019)",
          /*any_size=*/true,
          kPairScorerParams,
          "width,memory",
          DescribePairScorer};
}

}  // namespace berth
