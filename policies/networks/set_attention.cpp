// Pre-norm transformer blocks over the jobs, types and a few points of a state; pairs are scored from the job
// and the type that they name, as by pair_scorer. Jobs attend to the points, and points and types to the
// jobs (induced attention: Lee et al., Set Transformer, ICML 2019, eq. 9), so that the cost grows with the
// jobs and not with their square.
//
//   x_q  = W job q                        t_g = W type g                          layers "job", "type"
//   p_i  = part i of W (global ++ mean_q act(job q))                              layers "seen", "points"
//   `blocks` times, N normalising a row, A attention of `heads` heads:
//     k, v = W N(x)                                                               "b_jobs_k", "b_jobs_v"
//     p += W A(W N(p), k, v)              t += W A(W N(t), k, v)                  "b_points_q", "b_points_o",
//     ... p += W act(W N(p))                  t += W act(W N(t))                      "b_points_in",
//     "b_points_out", ... x += W A(W N(x), W N(p), W N(p)),   x += W act(W N(x)) "b_jobs_q", "b_points_k",
//     ...
//   c    = act(global ++ mean_q N(x) ++ mean_i N(p) ++ mean_g N(t))               layer "context"
//   h_qg = act(job q ++ pair qg ++ type g ++ N(x_q) ++ N(t_g) ++ c), then layers - 1 more   layers "pair_0",
//   ... score, done, value from h_qg and c as in pair_scorer.hpp, and memory=M likewise
//
// Of the block's index b stands "0", "1", ... in the layers' names.
#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/networks/memory.hpp"
#include "policies/networks/pair_scorer.hpp"

namespace berth {
namespace {

constexpr ParamInfo kSetAttentionParams[] = {
    {"width", "64", "units of a job, a type and a point, 1 to 1024"},
    {"blocks", "2", "blocks of attention, 0 to 8"},
    {"head", "16", "units of a head, a divisor of width"},
    {"points", "8", "that gather from the jobs what all of them may know, 1 to 64"},
    {"layers", "1", "hidden layers over a (job, type) pair, 1 to 8"},
    {"activation", "relu", "relu or tanh"},
    {"skip", "true", "true adds a linear term of the pair's own inputs to its score"},
    {"towers", "1", "networks side by side whose scores add up, each of width/towers units"},
    kMemoryParam,
};

struct Options {
  int width, blocks, head, points, layers;
  Activation act;
  bool skip;
  int towers, memory;
};

Options Read(Params& params) {
  Options o{};
  o.width = static_cast<int>(params.Integer("width", 1, 1024));
  o.blocks = static_cast<int>(params.Integer("blocks", 0, 8));
  o.head = static_cast<int>(params.Integer("head", 1, 1024));
  o.points = static_cast<int>(params.Integer("points", 1, 64));
  o.layers = static_cast<int>(params.Integer("layers", 1, 8));
  o.act = params.Choice("activation", {"relu", "tanh"}) == 0 ? Activation::kRelu : Activation::kTanh;
  o.skip = params.Bool("skip");
  o.towers = static_cast<int>(params.Integer("towers", 1, 1024));
  o.memory = ReadMemory(params);
  if (o.width % o.towers != 0 || o.width / o.towers % o.head != 0) {
    throw Error(Join("set_attention: parameter 'width': expected towers (", o.towers, ") times heads of ",
                     o.head, " units, found ", o.width));
  }
  return o;
}

// x plus attention, then x plus a layer of twice its width.
class Blocks {
 public:
  Blocks(NetworkDescription& net, const Options& options) : net_(net), o_(options) {}

  ValueId Normal(ValueId x) const { return net_.Normalize(x, o_.towers); }
  ValueId Linear(const std::string& name, ValueId x) const {
    return net_.Dense(name, {x}, o_.width, kLinearGain);
  }
  ValueId Attention(const std::string& name, ValueId x, ValueId normal, ValueId keys, ValueId values) const {
    const ValueId found = net_.Attend(Linear(name + "_q", normal), keys, values, o_.width / o_.head);
    return net_.AddDense(x, name + "_o", {found}, kLinearGain);
  }
  ValueId Own(const std::string& name, ValueId x) const {
    const ValueId inner = net_.Dense(name + "_in", {Normal(x)}, 2 * o_.width, kHiddenGain, o_.act);
    return net_.AddDense(x, name + "_out", {inner}, kLinearGain);
  }

 private:
  NetworkDescription& net_;
  const Options& o_;
};

void DescribeSetAttention(Params& params, NetworkDescription& net) {
  const Options o = Read(params);
  RequirePairs("set_attention", net.layout());
  const auto hidden = [&](const std::string& layer, const std::vector<ValueId>& inputs) {
    return net.Dense(layer, inputs, o.width, kHiddenGain, o.act);
  };
  const Blocks blocks(net, o);
  const bool typed = net.layout().type_channels > 0;
  ValueId job = blocks.Linear("job", net.jobs());
  ValueId type = typed ? blocks.Linear("type", net.types()) : -1;
  const ValueId seen = net.Mean(hidden("seen", {net.jobs()}));
  ValueId point = net.Points(net.Dense("points", {net.global(), seen}, o.points * o.width, kLinearGain),
                             o.points, o.towers);
  for (int b = 0; b < o.blocks; ++b) {
    const auto name = [&](const char* of) { return Join(b, "_", of); };
    const ValueId jobs = blocks.Normal(job);
    const ValueId keys = blocks.Linear(name("jobs_k"), jobs), values = blocks.Linear(name("jobs_v"), jobs);
    point = blocks.Attention(name("points"), point, blocks.Normal(point), keys, values);
    point = blocks.Own(name("points"), point);
    if (typed) {
      type = blocks.Attention(name("types"), type, blocks.Normal(type), keys, values);
      type = blocks.Own(name("types"), type);
    }
    const ValueId points = blocks.Normal(point);
    job = blocks.Attention(name("jobs"), job, jobs, blocks.Linear(name("points_k"), points),
                           blocks.Linear(name("points_v"), points));
    job = blocks.Own(name("jobs"), job);
  }
  job = blocks.Normal(job);
  std::vector<ValueId> all = {net.global(), net.Mean(job), net.Mean(blocks.Normal(point))};
  std::vector<ValueId> named = {net.jobs(), net.pairs(), net.types(), job};
  if (typed) {
    type = blocks.Normal(type);
    all.push_back(net.Mean(type));
    named.push_back(type);
  }
  const std::vector<ValueId> context = WithMemory(net, hidden("context", all), o.memory);
  named.insert(named.end(), context.begin(), context.end());
  ScorePairs(net, {.inputs = named,
                   .context = context,
                   .width = o.width,
                   .layers = o.layers,
                   .act = o.act,
                   .skip = o.skip});
}

}  // namespace

ArchitectureInfo SetAttentionArchitecture() {
  return {"set_attention",
          "transformer blocks over jobs and types, which score the (job, type) pairs; any queue, any cluster",
          "Set Transformer (Lee et al., ICML 2019); pre-norm blocks (Xiong et al., ICML 2020)",
          /*any_size=*/true,
          kSetAttentionParams,
          "width,towers,memory",
          DescribeSetAttention};
}

}  // namespace berth
