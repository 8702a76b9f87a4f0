// The pair scorer; its equations are in policies/pair_scorer.hpp. Absent rows are never computed. Layer
// pair_0 is computed in its parts, each once a job, pair, type or state.
#include <algorithm>

#include "agents/nn/fused/fused_dense.hpp"
#include "env/base/check.hpp"
#include "policies/pair_scorer.hpp"

namespace berth {
namespace {

using kernels::Epilogue;

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

std::span<float> First(AlignedFloats& memory, std::ptrdiff_t size) {
  return std::span<float>(memory).first(U(size));
}

class FusedPairScorer final : public FusedNetwork {
 public:
  FusedPairScorer(const PairScorerOptions& options, const ObservationLayout& layout, int num_actions,
                  std::span<const ParameterView> parameters)
      : activation_(options.activation),
        layout_(layout),
        h_(options.width),
        actions_(num_actions),
        has_done_(num_actions > layout.q * layout.g),
        skip_(options.skip) {
    std::size_t size = 0;
    for (const ParameterView& parameter : parameters) size += parameter.size;
    gradient_.resize(size);
    const auto layer = [&](const std::string& name, int inputs, int outputs, int first = 0, int count = -1) {
      return FusedDense(name, parameters, gradient_.data(), &multiply_adds_, inputs, outputs, first, count);
    };
    const int fj = layout.job_channels, fp = layout.pair_channels, ft = layout.type_channels,
              first = fj + fp + ft + h_, pooled = layout.global_channels + 3 * h_;
    job_ = layer("job", fj, h_);
    type_ = layer("type", ft, h_);
    context_ = layer("context", pooled, h_);
    pooled_part_ = layer("context", pooled, h_, layout.global_channels, 3 * h_);
    of_job_ = layer("pair_0", first, h_, 0, fj);
    of_pair_ = layer("pair_0", first, h_, fj, fp);
    of_type_ = layer("pair_0", first, h_, fj + fp, ft);
    of_context_ = layer("pair_0", first, h_, fj + fp + ft, h_);
    for (int i = 1; i < options.layers; ++i) pair_.push_back(layer(Join("pair_", i), h_, h_));
    score_ = layer("score", h_, 1);
    if (has_done_) {
      done_hidden_ = layer("done_hidden", h_, h_);
      done_ = layer("done", h_, 1);
    }
    value_hidden_ = layer("value_hidden", h_, h_);
    value_ = layer("value", h_, 1);
    if (skip_) {
      const int inputs = fj + fp + ft;
      skip_job_ = layer("skip", inputs, 1, 0, fj);
      skip_pair_ = layer("skip", inputs, 1, fj, fp);
      skip_type_ = layer("skip", inputs, 1, fj + fp, ft);
    }
    hidden_.resize(U(options.layers));
    // Hidden layers, their gradient and what is made of it should stay in the second-level cache.
    limit_ = std::max<std::ptrdiff_t>(160000 / (h_ * (options.layers + 2)), layout.g);
  }

  void Refresh() override {
    for (FusedDense* layer : {&job_, &type_, &of_job_, &of_pair_, &of_type_, &context_})
      layer->Refresh(false);
    for (FusedDense* layer : {&pooled_part_, &of_context_, &score_, &value_hidden_, &value_}) {
      layer->Refresh(true);
    }
    for (FusedDense& layer : pair_) layer.Refresh(true);
    if (skip_) {
      for (FusedDense* layer : {&skip_job_, &skip_pair_, &skip_type_}) layer->Refresh(false);
    }
    if (!has_done_) return;
    done_hidden_.Refresh(true);
    done_.Refresh(true);
  }

  std::size_t ChunkOf(std::span<const float* const> rows) const override {
    std::ptrdiff_t pairs = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r + 1 < rows.size()) Prefetch(rows[r + 1]);
      pairs += Present(rows[r]) * layout_.g;
      if (pairs > limit_ && r > 0) return r;
    }
    return rows.size();
  }

  void Forward(std::span<const float* const> rows, float* scores, float* values) override {
    Gather(rows);
    Pool();
    ScorePairs();
    std::fill_n(scores, b_ * actions_, 0.0F);
    for (const Run& run : runs_) {
      std::copy_n(found_.data() + run.first * layout_.g, run.count * layout_.g,
                  scores + run.state * actions_ + run.queue * layout_.g);
    }
    if (has_done_) {
      Head(done_hidden_, done_, done_units_, found_);
      for (std::ptrdiff_t s = 0; s < b_; ++s) scores[s * actions_ + layout_.q * layout_.g] = found_[U(s)];
    }
    if (values == nullptr) return;
    Head(value_hidden_, value_, value_units_, found_);
    std::copy_n(found_.data(), b_, values);
  }

  void Backward(const float* d_scores, const float* d_values) override {
    const std::ptrdiff_t g = layout_.g, h = h_;
    Fit(d_found_, n_ * g + b_);
    for (const Run& run : runs_) {
      std::copy_n(d_scores + run.state * actions_ + run.queue * g, run.count * g,
                  d_found_.data() + run.first * g);
    }
    BackwardPairs();
    // What reaches the context: from the pairs, then from the heads.
    Fit(d_context_, b_ * h);
    of_context_.Backward(context_units_.data(), h, d_of_context_.data(), h, b_);
    of_context_.BackwardBias(d_of_context_.data(), h, b_);
    of_context_.BackwardInput(d_of_context_.data(), h, b_, d_context_.data(), h);
    if (d_values != nullptr) BackwardHead(value_hidden_, value_, value_units_, d_values);
    if (has_done_) {
      for (std::ptrdiff_t s = 0; s < b_; ++s) d_found_[U(s)] = d_scores[s * actions_ + layout_.q * g];
      BackwardHead(done_hidden_, done_, done_units_, d_found_.data());
    }
    ActivationBackward(activation_, First(context_units_, b_ * h), First(d_context_, b_ * h));
    context_.Backward(pooled_.data(), context_.inputs(), d_context_.data(), h, b_);
    BackwardPool();
  }

 private:
  int Present(const float* row) const {
    int present = 0;
    const float* jobs = row + layout_.jobs_offset();
    for (int q = 0; q < layout_.q; ++q) present += jobs[q * layout_.job_channels] != 0.0F;
    return present;
  }

  // Minibatches take observations from all over a rollout: the jobs of the next are asked for in time.
  void Prefetch(const float* row) const {
    constexpr int kLine = 16;  // floats
    const float* jobs = row + layout_.jobs_offset();
    for (int k = 0; k < layout_.q * layout_.job_channels; k += kLine) __builtin_prefetch(jobs + k);
  }

  static void Fit(AlignedFloats& memory, std::ptrdiff_t size) {
    if (memory.size() < U(size)) memory.resize(U(size));
  }

  // The present jobs of all states, one after the other.
  void Gather(std::span<const float* const> rows) {
    const std::ptrdiff_t fj = layout_.job_channels, pairs = layout_.g * layout_.pair_channels,
                         types = layout_.g * layout_.type_channels, inputs = context_.inputs();
    b_ = static_cast<std::ptrdiff_t>(rows.size());
    n_ = 0;
    runs_.clear();
    begin_.clear();
    Fit(types_, b_ * types);
    Fit(pooled_, b_ * inputs);
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      const float* row = rows[U(s)];
      begin_.push_back(n_);
      const float* jobs = row + layout_.jobs_offset();
      bool follows = false;
      for (int q = 0; q < layout_.q; ++q) {
        const bool present = jobs[q * fj] != 0.0F;
        if (present && !follows) runs_.push_back({n_, 0, s, q});
        if (present) ++runs_.back().count, ++n_;
        follows = present;
      }
      std::copy_n(row + layout_.types_offset(), types, types_.data() + s * types);
      std::copy_n(row + layout_.global_offset(), layout_.global_channels, pooled_.data() + s * inputs);
    }
    begin_.push_back(n_);
    Fit(jobs_, n_ * fj);
    Fit(pairs_, n_ * pairs);
    for (const Run& run : runs_) {
      const float* row = rows[U(run.state)];
      std::copy_n(row + layout_.jobs_offset() + run.queue * fj, run.count * fj,
                  jobs_.data() + run.first * fj);
      std::copy_n(row + layout_.pairs_offset() + run.queue * pairs, run.count * pairs,
                  pairs_.data() + run.first * pairs);
    }
  }

  void Pool() {
    const std::ptrdiff_t h = h_, g = layout_.g, inputs = context_.inputs();
    Fit(embedded_, n_ * h);
    Fit(type_units_, b_ * g * h);
    Fit(context_units_, b_ * h);
    job_.Forward(jobs_.data(), n_, embedded_.data(), EpilogueOf(activation_));
    type_.Forward(types_.data(), b_ * g, type_units_.data(), EpilogueOf(activation_));
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      float* mean = pooled_.data() + s * inputs + layout_.global_channels;
      float* type = mean + 2 * h;
      kernels::Kernels().pool(Shape(s), embedded_.data() + begin_[U(s)] * h, Floor(activation_), mean,
                              mean + h);
      std::fill_n(type, h, 0.0F);
      kernels::AddColumnSums(type_units_.data() + s * g * h, h, g, h, type);
      for (std::ptrdiff_t k = 0; k < h; ++k) type[k] /= static_cast<float>(g);
    }
    context_.Forward(pooled_.data(), b_, context_units_.data(), EpilogueOf(activation_));
  }

  // Of the jobs of state s.
  kernels::PairShape Shape(std::ptrdiff_t s) const {
    return {U(begin_[U(s) + 1] - begin_[U(s)]), U(layout_.g), U(h_)};
  }

  void ScorePairs() {
    const std::ptrdiff_t h = h_, g = layout_.g;
    Fit(job_part_, n_ * h);
    Fit(state_part_, b_ * g * h);
    Fit(context_part_, b_ * h);
    for (AlignedFloats& units : hidden_) Fit(units, n_ * g * h);
    Fit(found_, n_ * g + b_);
    of_job_.Forward(jobs_.data(), n_, job_part_.data(), Epilogue::kNone);
    for (std::ptrdiff_t s = 0; s < b_; ++s) std::copy_n(of_context_.bias(), h, context_part_.data() + s * h);
    of_context_.Forward(context_units_.data(), b_, context_part_.data(), Epilogue::kNone, true);
    for (std::ptrdiff_t k = 0; k < b_ * g; ++k) {
      std::copy_n(context_part_.data() + k / g * h, h, state_part_.data() + k * h);
    }
    of_type_.Forward(types_.data(), b_ * g, state_part_.data(), Epilogue::kNone, true);
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      kernels::Kernels().spread(Shape(s), job_part_.data() + begin_[U(s)] * h, state_part_.data() + s * g * h,
                                hidden_[0].data() + begin_[U(s)] * g * h);
    }
    of_pair_.Forward(pairs_.data(), n_ * g, hidden_[0].data(), EpilogueOf(activation_), true);
    for (std::size_t i = 0; i < pair_.size(); ++i) {
      pair_[i].Forward(hidden_[i].data(), n_ * g, hidden_[i + 1].data(), EpilogueOf(activation_));
    }
    score_.Forward(hidden_.back().data(), n_ * g, found_.data(), Epilogue::kNone);
    if (skip_) AddSkip();
  }

  // The linear term of the pairs, onto found_.
  void AddSkip() {
    const std::ptrdiff_t g = layout_.g;
    Fit(of_jobs_, n_);
    Fit(of_pairs_, n_ * g);
    Fit(of_types_, b_ * g);
    skip_job_.Forward(jobs_.data(), n_, of_jobs_.data(), Epilogue::kNone);
    skip_pair_.Forward(pairs_.data(), n_ * g, of_pairs_.data(), Epilogue::kNone);
    skip_type_.Forward(types_.data(), b_ * g, of_types_.data(), Epilogue::kNone);
    const float bias = *skip_job_.bias();
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      for (std::ptrdiff_t job = begin_[U(s)]; job < begin_[U(s) + 1]; ++job) {
        const float of_job = of_jobs_[U(job)] + bias;
        for (std::ptrdiff_t t = 0; t < g; ++t) {
          found_[U(job * g + t)] += of_pairs_[U(job * g + t)] + (of_job + of_types_[U(s * g + t)]);
        }
      }
    }
  }

  // From d_found_ to the linear term's weights; nothing lies below them.
  void BackwardSkip() {
    const std::ptrdiff_t g = layout_.g;
    Fit(of_jobs_, n_);
    Fit(of_types_, b_ * g);
    std::fill_n(of_jobs_.data(), n_, 0.0F);
    std::fill_n(of_types_.data(), b_ * g, 0.0F);
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      for (std::ptrdiff_t job = begin_[U(s)]; job < begin_[U(s) + 1]; ++job) {
        for (std::ptrdiff_t t = 0; t < g; ++t) {
          of_jobs_[U(job)] += d_found_[U(job * g + t)];
          of_types_[U(s * g + t)] += d_found_[U(job * g + t)];
        }
      }
    }
    skip_job_.Backward(jobs_.data(), skip_job_.inputs(), of_jobs_.data(), 1, n_);
    skip_pair_.Backward(pairs_.data(), skip_pair_.inputs(), d_found_.data(), 1, n_ * g);
    skip_type_.Backward(types_.data(), skip_type_.inputs(), of_types_.data(), 1, b_ * g);
    skip_job_.BackwardBias(of_jobs_.data(), 1, n_);
  }

  void Head(FusedDense& hidden, FusedDense& out, AlignedFloats& units, AlignedFloats& result) {
    Fit(units, b_ * h_);
    Fit(result, b_);
    hidden.Forward(context_units_.data(), b_, units.data(), EpilogueOf(activation_));
    out.Forward(units.data(), b_, result.data(), Epilogue::kNone);
  }

  // Adds to d_context_.
  void BackwardHead(FusedDense& hidden, FusedDense& out, AlignedFloats& units, const float* d) {
    Fit(d_head_, b_ * h_);
    out.Backward(units.data(), h_, d, 1, b_);
    out.BackwardInput(d, 1, b_, d_head_.data(), h_, false, units.data(), EpilogueOf(activation_));
    hidden.Backward(context_units_.data(), h_, d_head_.data(), h_, b_);
    hidden.BackwardInput(d_head_.data(), h_, b_, d_context_.data(), h_, true);
  }

  // From d_found_ through the pair layers to their inputs; leaves d_of_context_.
  void BackwardPairs() {
    const std::ptrdiff_t h = h_, g = layout_.g, pairs = n_ * g;
    Fit(d_, pairs * h);
    Fit(d_next_, pairs * h);
    if (skip_) BackwardSkip();
    score_.Backward(hidden_.back().data(), h, d_found_.data(), 1, pairs);
    score_.BackwardInput(d_found_.data(), 1, pairs, d_.data(), h, false, hidden_.back().data(),
                         EpilogueOf(activation_));
    for (std::size_t i = pair_.size(); i-- > 0;) {
      pair_[i].Backward(hidden_[i].data(), h, d_.data(), h, pairs);
      pair_[i].BackwardInput(d_.data(), h, pairs, d_next_.data(), h, false, hidden_[i].data(),
                             EpilogueOf(activation_));
      std::swap(d_, d_next_);
    }
    of_pair_.Backward(pairs_.data(), of_pair_.inputs(), d_.data(), h, pairs);
    // Sums over the types of a job, the jobs of a state and type, and all pairs of a state.
    Fit(d_job_, n_ * h);
    Fit(d_state_, b_ * g * h);
    Fit(d_of_context_, b_ * h);
    std::fill_n(d_of_context_.data(), b_ * h, 0.0F);
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      kernels::Kernels().fold(Shape(s), d_.data() + begin_[U(s)] * g * h, d_job_.data() + begin_[U(s)] * h,
                              d_state_.data() + s * g * h);
      kernels::AddColumnSums(d_state_.data() + s * g * h, h, g, h, d_of_context_.data() + s * h);
    }
    of_job_.Backward(jobs_.data(), of_job_.inputs(), d_job_.data(), h, n_);
    of_type_.Backward(types_.data(), of_type_.inputs(), d_state_.data(), h, b_ * g);
  }

  // From d_context_ through mean, maximum and types. Jobs that share the maximum share its gradient, as in
  // LibTorch's amax.
  void BackwardPool() {
    const std::ptrdiff_t h = h_, g = layout_.g, inputs = context_.inputs();
    Fit(d_pooled_, b_ * 3 * h);
    pooled_part_.BackwardInput(d_context_.data(), h, b_, d_pooled_.data(), 3 * h);
    for (std::ptrdiff_t s = 0; s < b_; ++s) {
      const float* most = pooled_.data() + s * inputs + layout_.global_channels + h;
      const float* d_mean = d_pooled_.data() + s * 3 * h;
      const float* d_type = d_mean + 2 * h;
      kernels::Kernels().unpool(Shape(s), embedded_.data() + begin_[U(s)] * h, most, d_mean, d_mean + h,
                                d_job_.data() + begin_[U(s)] * h);
      for (std::ptrdiff_t t = 0; t < g; ++t) {
        for (std::ptrdiff_t k = 0; k < h; ++k) {
          d_state_[U((s * g + t) * h + k)] = d_type[k] / static_cast<float>(g);
        }
      }
    }
    ActivationBackward(activation_, First(embedded_, n_ * h), First(d_job_, n_ * h));
    job_.Backward(jobs_.data(), job_.inputs(), d_job_.data(), h, n_);
    ActivationBackward(activation_, First(type_units_, b_ * g * h), First(d_state_, b_ * g * h));
    type_.Backward(types_.data(), type_.inputs(), d_state_.data(), h, b_ * g);
  }

  Activation activation_;
  ObservationLayout layout_;
  std::ptrdiff_t h_, actions_, limit_ = 0;  // limit_: pairs of a chunk
  bool has_done_, skip_;
  FusedDense job_, type_, context_, pooled_part_, of_job_, of_pair_, of_type_, of_context_, score_,
      done_hidden_, done_, value_hidden_, value_, skip_job_, skip_pair_, skip_type_;
  std::vector<FusedDense> pair_;  // from pair_1 on

  // Of the last Forward: b states, n present jobs in all.
  std::ptrdiff_t b_ = 0, n_ = 0;
  struct Run {  // present jobs that stand side by side in the queue of one state
    std::ptrdiff_t first, count, state, queue;
  };
  std::vector<Run> runs_;
  std::vector<std::ptrdiff_t> begin_;                             // [b + 1] the first job of each state
  AlignedFloats jobs_, pairs_, types_;                            // [n, Fj], [n, G, Fp], [b, G, Ft]
  AlignedFloats embedded_, type_units_, pooled_, context_units_;  // [n, H], [b, G, H], [b, Fg + 3H], [b, H]
  AlignedFloats job_part_, state_part_, context_part_;            // [n, H], [b, G, H], [b, H]
  std::vector<AlignedFloats> hidden_;                             // [layers][n, G, H]
  AlignedFloats found_, done_units_, value_units_;                // [n, G], [b, H] twice
  // Of the linear term, and of its gradient where it is summed: [n], [n, G], [b, G]
  AlignedFloats of_jobs_, of_pairs_, of_types_;
  AlignedFloats d_found_, d_, d_next_, d_job_, d_state_, d_of_context_, d_context_, d_head_, d_pooled_;
};

}  // namespace

FusedInfo FusedPairScorerInfo() {
  return {"pair_scorer",
          [](Params& params, const ObservationLayout& layout, int num_actions,
             std::span<const ParameterView> parameters) -> std::unique_ptr<FusedNetwork> {
            return std::make_unique<FusedPairScorer>(ReadPairScorerOptions(params), layout, num_actions,
                                                     parameters);
          }};
}

}  // namespace berth
