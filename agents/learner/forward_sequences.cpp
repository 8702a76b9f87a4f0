#include "agents/learner/forward_sequences.hpp"

#include <vector>

#include "agents/nn/fused/fused_sequences.hpp"

namespace berth {

NetworkOutput ForwardSequences(Network& network, const torch::Tensor& stored,
                               std::span<const std::size_t> begin, std::span<const std::uint8_t> passes) {
  const auto integers = [&](const std::vector<std::int64_t>& values) {
    return torch::tensor(values, torch::kInt64).to(stored.device());
  };
  const std::int64_t size = network.description().layout().size(), memory = network.description().memory();
  SequenceOrder order;
  order.Set(begin);
  std::vector<torch::Tensor> scores, values;
  std::vector<std::int64_t> place(passes.size());  // of each step among those
  std::int64_t placed = 0;
  torch::Tensor state;
  for (std::size_t t = 0; t < order.longest(); ++t) {
    std::vector<std::int64_t> which, moves;
    for (std::size_t k = 0; k < order.Active(t); ++k) {
      const std::size_t step = order.StepOf(k, t);
      which.push_back(static_cast<std::int64_t>(step));
      moves.push_back(passes[step]);
      place[step] = placed++;
    }
    const torch::Tensor now = stored.index_select(0, integers(which));
    state =
        t == 0 ? now.narrow(1, size, memory) : state.narrow(0, 0, static_cast<std::int64_t>(which.size()));
    const NetworkOutput out = network.Forward(torch::cat({now.narrow(1, 0, size), state}, 1));
    scores.push_back(out.scores);
    values.push_back(out.value);
    state = torch::where(integers(moves).to(torch::kBool).unsqueeze(1), out.next, state);
  }
  const torch::Tensor in_order = integers(place);
  return {torch::cat(scores).index_select(0, in_order), torch::cat(values).index_select(0, in_order)};
}

}  // namespace berth
