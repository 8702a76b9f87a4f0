#include "tests/learn/toy_network.hpp"

namespace berth::test {
namespace {

constexpr ParamInfo kParams[] = {
    {"units", "6", "units of every hidden layer, 1 to 64"},
    {"crowd", "false", "true: the layer of a job reads the mean of all jobs too"},
};

void Describe(Params& params, NetworkDescription& net) {
  const int units = static_cast<int>(params.Integer("units", 1, 64));
  const bool crowd = params.Bool("crowd");
  const Activation tanh = Activation::kTanh, relu = Activation::kRelu;
  ValueId job = net.Dense("own", {net.jobs()}, units, kHiddenGain, tanh);
  if (crowd) job = net.Dense("crowd", {job, net.Mean(job)}, units, kHiddenGain, relu);
  const ValueId kind = net.Dense("kind", {net.types()}, units, kHiddenGain, relu);
  const ValueId all = net.Mean(job), most = net.Max(job);
  const ValueId both =
      net.Dense("both", {net.pairs(), job, kind, all, net.global()}, units, kHiddenGain, relu);
  const ValueId seen = net.Dense("seen", {both, net.pairs()}, units, kHiddenGain, tanh);
  const ValueId rule =
      net.AddDense(net.Dense("rate", {seen}, net.outputs(), kScoreGain), "rule", {job, both}, kScoreGain);
  ValueId scores = net.Actions(rule);
  if (net.has_done()) scores = net.Concat({scores, net.Dense("stop", {most}, net.outputs(), kScoreGain)});
  net.Answer(scores, net.Dense("value", {most, net.global(), all}, 1, kValueGain));
}

}  // namespace

ArchitectureInfo ToyNetwork() {
  return {"toy", "of the tests", "this file", /*any_size=*/true, kParams, "units", Describe};
}

}  // namespace berth::test
