#include "policies/pair_scorer.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/learn/network_table.hpp"

namespace berth {
namespace {

// The equations are in policies/pair_scorer.hpp. Pairs of absent rows are not computed, queues being seldom
// full, unless shapes are fixed: then they are computed and their scores set to the 0 that they have
// otherwise.
class PairScorer : public LayeredNetwork {
 public:
  PairScorer(const PairScorerOptions& options, const ObservationLayout& layout, int num_actions,
             const std::vector<LayerSpec>& layers, std::uint64_t seed, int outputs)
      : LayeredNetwork(layers, seed),
        layout_(layout),
        outputs_(outputs),
        activation_(options.activation),
        job_(Layer("job")),
        type_(Layer("type")),
        context_(Layer("context")),
        score_(Layer("score")),
        value_hidden_(Layer("value_hidden")),
        value_(Layer("value")) {
    for (int i = 0; i < options.layers; ++i) pair_.push_back(&Layer(Join("pair_", i)));
    if (num_actions > layout.q * layout.g) {
      done_hidden_ = &Layer("done_hidden");
      done_ = &Layer("done");
    }
    if (options.skip) skip_ = &Layer("skip");
  }

  void FixShapes() override { fixed_shapes_ = true; }

  NetworkOutput Forward(const torch::Tensor& observation) override {
    const std::int64_t b = observation.size(0), q = layout_.q, g = layout_.g;
    const std::int64_t fj = layout_.job_channels, fp = layout_.pair_channels, ft = layout_.type_channels;
    const torch::Tensor jobs = observation.narrow(1, layout_.jobs_offset(), q * fj).reshape({b, q, fj});
    const torch::Tensor pairs =
        observation.narrow(1, layout_.pairs_offset(), q * g * fp).reshape({b * q, g, fp});
    const torch::Tensor types = observation.narrow(1, layout_.types_offset(), g * ft).reshape({b, g, ft});
    const torch::Tensor global = observation.narrow(1, layout_.global_offset(), layout_.global_channels);

    const torch::Tensor present = jobs.narrow(2, 0, 1).ne(0).to(torch::kFloat);  // [B, Q, 1]
    const torch::Tensor e = Activate(activation_, job_.Forward(jobs));           // [B, Q, H]
    const torch::Tensor kept = e * present;
    const torch::Tensor mean = kept.sum(1) / present.sum(1).clamp_min(1.0);
    const torch::Tensor most = (kept + (1.0 - present) * Floor(activation_)).amax(1);
    const torch::Tensor mean_type = Activate(activation_, type_.Forward(types)).mean(1);
    const torch::Tensor c =
        Activate(activation_, context_.Forward(torch::cat({global, mean, most, mean_type}, 1)));

    const torch::Tensor rows = fixed_shapes_
                                   ? torch::arange(b * q, observation.options().dtype(torch::kInt64))
                                   : present.flatten().nonzero().squeeze(1);  // [n] of B * Q
    const torch::Tensor batch = rows.div(q, "floor");
    const torch::Tensor present_jobs = jobs.reshape({b * q, fj}).index_select(0, rows);  // [n, Fj]
    const torch::Tensor present_pairs = pairs.index_select(0, rows);                     // [n, G, Fp]
    // What a layer makes of job ++ pair: [n, 1, outputs] + [n, G, outputs].
    const auto of_job_and_pair = [&](const DenseModule& layer) {
      return layer.Part(present_jobs, 0).unsqueeze(1) + layer.Part(present_pairs, fj);
    };
    const DenseModule& first = *pair_.front();
    torch::Tensor h = of_job_and_pair(first);
    const torch::Tensor of_state =
        first.Part(types, fj + fp) + (first.Part(c, fj + fp + ft) + first.bias).unsqueeze(1);
    h = Activate(activation_, h + of_state.index_select(0, batch));
    for (std::size_t i = 1; i < pair_.size(); ++i) h = Activate(activation_, pair_[i]->Forward(h));
    torch::Tensor found = score_.Forward(h);  // [n, G, outputs]
    if (skip_ != nullptr) {
      const torch::Tensor of_type = skip_->Part(types, fj + fp) + skip_->bias;
      found = found + of_job_and_pair(*skip_) + of_type.index_select(0, batch);
    }
    if (fixed_shapes_) found = found * present.reshape({b * q, 1, 1});
    torch::Tensor scores = torch::zeros({b * q, g * outputs_}, found.options())
                               .index_copy(0, rows, found.flatten(1))
                               .reshape({b, q * g * outputs_});
    if (done_ != nullptr) {
      scores = torch::cat({scores, done_->Forward(Activate(activation_, done_hidden_->Forward(c)))}, 1);
    }
    return {scores, value_.Forward(Activate(activation_, value_hidden_.Forward(c))).squeeze(-1)};
  }

 private:
  ObservationLayout layout_;
  std::int64_t outputs_;
  bool fixed_shapes_ = false;
  Activation activation_;
  const DenseModule &job_, &type_, &context_, &score_, &value_hidden_, &value_;
  const DenseModule *done_hidden_ = nullptr, *done_ = nullptr, *skip_ = nullptr;
  std::vector<const DenseModule*> pair_;
};

}  // namespace

std::shared_ptr<Network> MakePairScorer(Params& params, const ObservationLayout& layout, int num_actions,
                                        std::uint64_t seed, int outputs) {
  const PairScorerOptions options = ReadPairScorerOptions(params);
  const std::vector<LayerSpec> layers = WithOutputs(
      PairScorerArchitecture().layers(params, layout, num_actions), {"score", "done", "skip"}, outputs);
  return std::make_shared<PairScorer>(options, layout, num_actions, layers, seed, outputs);
}

}  // namespace berth
