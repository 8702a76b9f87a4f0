// Pairs are scored as by pair_scorer, of jobs that know who waits for them: rows that name others in their
// edges (ObservationLayout::edges, of the block held_back) send messages to those.
//
//   x_v  = act(job v)                                                            layer "job"
//   e_v  = x_v at first, then `rounds` times x_v + G act(G' sum of act(F e_u) over the u that name v)
//                                                                                "r_f", "r_g_in", "r_g"
//   c    = act(global ++ mean_v s_v ++ max_v s_v ++ mean_g act(type g)), s_v = act(S e_v)   "summary",
//   "type",
//                                                                                "context"
//   h_qg = act(job q ++ pair qg ++ type g ++ e_q ++ c), then as in pair_scorer.hpp
//
// As Decima has it (Mao et al., SIGCOMM 2019, eq. 1: e_v = g(sum over children f(e_u)) + x_v), with F and G
// of each round by themselves: after as many rounds as a chain is long all that hangs on a job has told it of
// itself. An observation without edges has no rounds.
#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/networks/memory.hpp"
#include "policies/networks/pair_scorer.hpp"

namespace berth {
namespace {

constexpr ParamInfo kMessagePassingParams[] = {
    {"width", "32", "units of every hidden layer, 1 to 1024"},
    {"rounds", "3", "times that messages are passed, 1 to 8: the longest chain that is seen"},
    {"layers", "2", "hidden layers over a (job, type) pair, 1 to 8"},
    {"activation", "relu", "relu or tanh"},
    {"skip", "false", "true adds a linear term of the pair's own inputs to its score"},
    kMemoryParam,
};

void DescribeMessagePassing(Params& params, NetworkDescription& net) {
  const PairOptions o = ReadPairOptions(params);
  const int rounds = static_cast<int>(params.Integer("rounds", 1, 8));
  RequirePairs("messages", net.layout());
  const auto hidden = [&](const std::string& layer, const std::vector<ValueId>& inputs) {
    return net.Dense(layer, inputs, o.width, kHiddenGain, o.act);
  };

  const ValueId own = hidden("job", {net.jobs()});
  ValueId known = own;
  for (int r = 0; r < rounds && net.layout().edges > 0; ++r) {
    const ValueId sum = net.Collect(hidden(Join(r, "_f"), {known}));
    known = net.AddDense(own, Join(r, "_g"), {hidden(Join(r, "_g_in"), {sum})}, kLinearGain);
  }
  PoolAndScore(net, o, hidden("summary", {known}), {known});
}

}  // namespace

ArchitectureInfo MessagesArchitecture() {
  return {"messages",
          "pair_scorer over jobs that were told of those who wait for them; any queue, any cluster",
          "Decima (Mao et al., SIGCOMM 2019, eq. 1)",
          /*any_size=*/true,
          kMessagePassingParams,
          "width,memory",
          DescribeMessagePassing};
}

}  // namespace berth
