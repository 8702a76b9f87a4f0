#include "policies/pair_scorer.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "policies/architecture.hpp"
#include "policies/onnx_layers.hpp"

namespace berth {
namespace {

constexpr std::size_t kBlockFloats = 2048;  // of hidden units at once, twice: half of a first-level cache

constexpr ParamInfo kParams[] = {
    {"width", "32", "units of every hidden layer, 1 to 1024"},
    {"layers", "2", "hidden layers over a (job, type) pair, 1 to 8"},
    {"activation", "relu", "relu or tanh"},
    {"skip", "false", "true adds a linear term of the pair's own inputs to its score"},
};

std::vector<LayerSpec> Layers(Params& params, const ObservationLayout& layout, int num_actions) {
  const PairScorerOptions options = ReadPairScorerOptions(params);
  if (layout.q <= 0 || layout.g <= 0) {
    throw Error("pair_scorer: expected an observation of jobs and GPU types, found a flat one; use mlp");
  }
  if (layout.pair_channels == 0 || layout.type_channels == 0) {
    throw Error(Join("pair_scorer: expected an observation with blocks of pairs and types such as ",
                     kObservationV1, ", found one of ", layout.job_channels,
                     " channels a job alone; use mlp"));
  }
  const int pairs = layout.q * layout.g;
  BERTH_CHECK(num_actions == pairs || num_actions == pairs + 1, num_actions, " actions for ", pairs,
              " pairs");
  const double hidden = std::sqrt(2.0);
  const int h = options.width;
  std::vector<LayerSpec> layers = {
      {"job", layout.job_channels, h, hidden},
      {"type", layout.type_channels, h, hidden},
      {"context", layout.global_channels + 3 * h, h, hidden},
      {"pair_0", layout.job_channels + layout.pair_channels + layout.type_channels + h, h, hidden},
  };
  for (int i = 1; i < options.layers; ++i) layers.push_back({Join("pair_", i), h, h, hidden});
  layers.push_back({"score", h, 1, 0.01});
  if (num_actions > pairs) {
    layers.push_back({"done_hidden", h, h, hidden});
    layers.push_back({"done", h, 1, 0.01});
  }
  layers.push_back({"value_hidden", h, h, hidden});
  layers.push_back({"value", h, 1, 1.0});
  // Last, so that the other layers draw the same initial weights with it as without.
  if (options.skip) {
    layers.push_back({"skip", layout.job_channels + layout.pair_channels + layout.type_channels, 1, 0.01});
  }
  return layers;
}

class FrozenPairScorer : public FrozenNetwork {
 public:
  FrozenPairScorer(const PairScorerOptions& options, const PolicyBundle& bundle)
      : options_(options),
        trained_(bundle.layout),
        has_done_(bundle.has_done()),
        job_(LoadDense(bundle, "job")),
        type_(LoadDense(bundle, "type")),
        context_(LoadDense(bundle, "context")),
        score_(LoadDense(bundle, "score")),
        value_hidden_(LoadDense(bundle, "value_hidden")),
        value_(LoadDense(bundle, "value")) {
    for (int i = 0; i < options.layers; ++i) pair_.push_back(LoadDense(bundle, Join("pair_", i)));
    if (has_done_) {
      done_hidden_ = LoadDense(bundle, "done_hidden");
      done_ = LoadDense(bundle, "done");
    }
    if (options.skip) skip_ = LoadDense(bundle, "skip");
    c_.resize(U(options.width));
    head_.resize(U(options.width));
    pooled_.resize(U(context_.inputs));
  }

  float Evaluate(std::span<const float> observation, const ObservationLayout& layout,
                 std::span<float> scores) override {
    CheckSizes(observation, layout, scores);
    Pool(observation, layout);
    std::fill(scores.begin(), scores.end(), 0.0F);
    ScorePairs(observation, layout, scores);
    if (has_done_) scores[U(layout.q * layout.g)] = Head(done_hidden_, done_);
    return Head(value_hidden_, value_);
  }

 private:
  void CheckSizes(std::span<const float> observation, const ObservationLayout& layout,
                  std::span<float> scores) const {
    ObservationLayout same = trained_;
    same.q = layout.q;
    same.g = layout.g;
    BERTH_CHECK(same == layout && layout.q > 0 && layout.g > 0, "layout of ", layout.q, " x ", layout.g);
    BERTH_CHECK(observation.size() == U(layout.size()) &&
                    scores.size() == U(layout.q * layout.g) + (has_done_ ? 1 : 0),
                observation.size(), " floats, ", scores.size(), " scores");
  }

  // Fills rows_ with the present jobs and c_ with the context.
  void Pool(std::span<const float> observation, const ObservationLayout& layout) {
    const std::size_t h = U(options_.width), channels = U(layout.job_channels);
    rows_.clear();
    job_rows_.clear();
    const float* jobs = observation.data() + layout.jobs_offset();
    for (int q = 0; q < layout.q; ++q) {
      const float* row = jobs + U(q) * channels;
      if (row[0] == 0.0F) continue;
      rows_.push_back(q);
      job_rows_.insert(job_rows_.end(), row, row + channels);
    }
    embedded_.resize(std::max(rows_.size(), U(layout.g)) * h);
    const std::span<float> e = std::span<float>(embedded_).first(rows_.size() * h);
    job_.Forward(job_rows_.data(), static_cast<int>(rows_.size()), e.data());
    Activate(options_.activation, e);
    float* mean = pooled_.data() + layout.global_channels;
    float* most = mean + h;
    float* types = most + h;
    std::copy_n(observation.data() + layout.global_offset(), layout.global_channels, pooled_.data());
    std::fill(mean, types + h, 0.0F);
    std::fill(most, types, Floor(options_.activation));
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (std::size_t i = 0; i < h; ++i) {
        mean[i] += e[row * h + i];
        most[i] = std::max(most[i], e[row * h + i]);
      }
    }
    const auto count = static_cast<float>(std::max<std::size_t>(rows_.size(), 1));
    for (std::size_t i = 0; i < h; ++i) mean[i] /= count;
    const std::span<float> t = std::span<float>(embedded_).first(U(layout.g) * h);
    type_.Forward(observation.data() + layout.types_offset(), layout.g, t.data());
    Activate(options_.activation, t);
    for (std::size_t g = 0; g < U(layout.g); ++g) {
      for (std::size_t i = 0; i < h; ++i) types[i] += t[g * h + i];
    }
    for (std::size_t i = 0; i < h; ++i) types[i] /= static_cast<float>(layout.g);
    context_.Forward(pooled_.data(), 1, c_.data());
    Activate(options_.activation, c_);
  }

  void ScorePairs(std::span<const float> observation, const ObservationLayout& layout,
                  std::span<float> scores) {
    const std::size_t h = U(options_.width), g = U(layout.g), n = rows_.size();
    const Dense& first = pair_.front();
    const int type_inputs = layout.job_channels + layout.pair_channels;
    // What does not depend on the job: bias, type and context. [G, H]
    type_part_.resize(g * h);
    for (std::size_t i = 0; i < g; ++i) std::copy_n(first.bias.data(), h, type_part_.data() + i * h);
    for (std::size_t i = 0; i < g; ++i) {
      MultiplyAdd(c_.data(), 1, options_.width, first.Inputs(type_inputs + layout.type_channels),
                  options_.width, type_part_.data() + i * h);
    }
    MultiplyAdd(observation.data() + layout.types_offset(), layout.g, layout.type_channels,
                first.Inputs(type_inputs), options_.width, type_part_.data());
    job_part_.assign(n * h, 0.0F);
    MultiplyAdd(job_rows_.data(), static_cast<int>(n), layout.job_channels, first.Inputs(0), options_.width,
                job_part_.data());
    if (options_.skip) SkipParts(observation, layout);
    // So many jobs at once that their pairs stay in the nearest cache through all layers.
    const std::size_t block = std::max<std::size_t>(1, kBlockFloats / (g * h));
    hidden_.resize(block * g * h);
    next_.resize(block * g * h);
    compact_.resize(block * g);
    for (std::size_t begin = 0; begin < n; begin += block) {
      ScoreBlock(observation, layout, begin, std::min(n, begin + block), scores);
    }
  }

  // The linear term's shares of jobs and types.
  void SkipParts(std::span<const float> observation, const ObservationLayout& layout) {
    const int n = static_cast<int>(rows_.size()), type_inputs = layout.job_channels + layout.pair_channels;
    job_skip_.assign(rows_.size(), skip_.bias.front());
    MultiplyAdd(job_rows_.data(), n, layout.job_channels, skip_.Inputs(0), 1, job_skip_.data());
    type_skip_.assign(U(layout.g), 0.0F);
    MultiplyAdd(observation.data() + layout.types_offset(), layout.g, layout.type_channels,
                skip_.Inputs(type_inputs), 1, type_skip_.data());
  }

  // One past the last of those from `begin` on that stand side by side in the queue, as their pairs then do.
  std::size_t RunEnd(std::size_t begin, std::size_t end) const {
    std::size_t last = begin + 1;
    while (last < end && rows_[last] == rows_[last - 1] + 1) ++last;
    return last;
  }

  // The pairs of the present jobs [begin, end).
  void ScoreBlock(std::span<const float> observation, const ObservationLayout& layout, std::size_t begin,
                  std::size_t end, std::span<float> scores) {
    const std::size_t h = U(options_.width), g = U(layout.g), channels = U(layout.pair_channels);
    const Dense& first = pair_.front();
    const std::size_t pairs = (end - begin) * g;
    float* out = hidden_.data();
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t type = 0; type < g; ++type, out += h) {
        for (std::size_t i = 0; i < h; ++i) out[i] = type_part_[type * h + i] + job_part_[row * h + i];
      }
    }
    const float* block = observation.data() + layout.pairs_offset();
    for (std::size_t row = begin; row < end;) {  // rows that stand beside each other in one product
      const std::size_t last = RunEnd(row, end);
      MultiplyAdd(block + U(rows_[row]) * g * channels, static_cast<int>((last - row) * g),
                  layout.pair_channels, first.Inputs(layout.job_channels), options_.width,
                  hidden_.data() + (row - begin) * g * h);
      row = last;
    }
    Activate(options_.activation, std::span<float>(hidden_).first(pairs * h));
    for (std::size_t layer = 1; layer < pair_.size(); ++layer) {
      pair_[layer].Forward(hidden_.data(), static_cast<int>(pairs), next_.data());
      Activate(options_.activation, std::span<float>(next_).first(pairs * h));
      std::swap(hidden_, next_);
    }
    score_.Forward(hidden_.data(), static_cast<int>(pairs), compact_.data());
    if (options_.skip) AddSkip(block, layout, begin, end);
    for (std::size_t row = begin; row < end; ++row) {
      std::copy_n(compact_.data() + (row - begin) * g, g, scores.data() + U(rows_[row]) * g);
    }
  }

  // The linear term of the pairs of the present jobs [begin, end), whose scores compact_ holds.
  void AddSkip(const float* pairs, const ObservationLayout& layout, std::size_t begin, std::size_t end) {
    const std::size_t g = U(layout.g);
    skip_scores_.resize((end - begin) * g);
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t type = 0; type < g; ++type) {
        skip_scores_[(row - begin) * g + type] = type_skip_[type] + job_skip_[row];
      }
    }
    for (std::size_t row = begin; row < end;) {
      const std::size_t last = RunEnd(row, end);
      MultiplyAdd(pairs + U(rows_[row]) * g * U(layout.pair_channels), static_cast<int>((last - row) * g),
                  layout.pair_channels, skip_.Inputs(layout.job_channels), 1,
                  skip_scores_.data() + (row - begin) * g);
      row = last;
    }
    for (std::size_t i = 0; i < skip_scores_.size(); ++i) compact_[i] += skip_scores_[i];
  }

  float Head(const Dense& hidden, const Dense& out) {
    hidden.Forward(c_.data(), 1, head_.data());
    Activate(options_.activation, head_);
    float result = 0.0F;
    out.Forward(head_.data(), 1, &result);
    return result;
  }

  PairScorerOptions options_;
  ObservationLayout trained_;
  bool has_done_;
  Dense job_, type_, context_, score_, value_hidden_, value_, done_hidden_, done_, skip_;
  std::vector<Dense> pair_;
  std::vector<int> rows_;                            // [n] present rows
  std::vector<float> job_rows_;                      // [n, Fj]
  std::vector<float> embedded_, pooled_, c_, head_;  // [max(n, G), H], [Fg + 3H], [H], [H]
  std::vector<float> type_part_, job_part_;          // [G, H], [n, H]
  std::vector<float> hidden_, next_, compact_;       // of a block of jobs: [G, H] a job twice, [G] a job
  std::vector<float> job_skip_, type_skip_, skip_scores_;  // [n], [G], [G] a job of a block
};

std::unique_ptr<FrozenNetwork> MakeFrozen(Params& params, const PolicyBundle& bundle) {
  return std::make_unique<FrozenPairScorer>(ReadPairScorerOptions(params), bundle);
}

// Inputs jobs [B, Q, Fj], pairs [B, Q, G, Fp], types [B, G, Ft], global [B, Fg], action_mask [B, A] bool.
void Onnx(Params& params, const PolicyBundle& bundle, OnnxGraph& graph) {
  const PairScorerOptions options = ReadPairScorerOptions(params);
  const ObservationLayout& layout = bundle.layout;
  const OnnxLayers layers(bundle, options.activation, graph);
  const std::int64_t fj = layout.job_channels, fp = layout.pair_channels, ft = layout.type_channels;
  graph.Input("jobs", OnnxType::kFloat, {"batch", "queue", Join(fj)});
  graph.Input("pairs", OnnxType::kFloat, {"batch", "queue", "types", Join(fp)});
  graph.Input("types", OnnxType::kFloat, {"batch", "types", Join(ft)});
  graph.Input("global", OnnxType::kFloat, {"batch", Join(layout.global_channels)});
  graph.Input("action_mask", OnnxType::kBool, {"batch", "actions"});

  const std::string present =
      graph.Node("Slice", {"jobs", graph.Integers({0}), graph.Integers({1}), graph.Integers({2})});
  const std::string one = graph.Float(1.0F);
  const std::string e = layers.Hidden("job", "jobs");
  const std::string kept = graph.Node("Mul", {e, present});
  const std::string count =
      graph.Node("Max", {graph.Node("ReduceSum", {present, graph.Integers({1})}, {{"keepdims", {0}}}), one});
  const std::string mean =
      graph.Node("Div", {graph.Node("ReduceSum", {kept, graph.Integers({1})}, {{"keepdims", {0}}}), count});
  const std::string absent =
      graph.Node("Mul", {graph.Node("Sub", {one, present}), graph.Float(Floor(options.activation))});
  const std::string most =
      graph.Node("ReduceMax", {graph.Node("Add", {kept, absent})}, {{"axes", {1}, true}, {"keepdims", {0}}});
  const std::string types =
      graph.Node("ReduceMean", {layers.Hidden("type", "types")}, {{"axes", {1}, true}, {"keepdims", {0}}});
  const std::string pooled = graph.Node("Concat", {"global", mean, most, types}, {{"axis", {1}}});
  const std::string c = layers.Hidden("context", pooled);

  const auto part = [&](const char* layer, const std::string& input, std::int64_t first,
                        std::int64_t count_of, std::vector<std::int64_t> axes) {
    const std::string product = graph.Node("MatMul", {input, layers.Weight(layer, first, count_of)});
    return axes.empty() ? product : graph.Node("Unsqueeze", {product, graph.Integers(std::move(axes))});
  };
  // [B, Q, G, outputs]: what the layer makes of job ++ pair ++ type, without its bias.
  const auto of_inputs = [&](const char* layer) {
    const std::string sum =
        graph.Node("Add", {part(layer, "jobs", 0, fj, {2}), part(layer, "pairs", fj, fp, {})});
    return graph.Node("Add", {sum, part(layer, "types", fj + fp, ft, {1})});
  };
  std::string h =
      graph.Node("Add", {of_inputs("pair_0"), part("pair_0", c, fj + fp + ft, options.width, {1, 2})});
  h = layers.Activate(graph.Node("Add", {h, layers.Bias("pair_0")}));
  for (int i = 1; i < options.layers; ++i) h = layers.Hidden(Join("pair_", i), h);
  std::string score = layers.Linear("score", h);
  if (options.skip) {
    score = graph.Node("Add", {score, graph.Node("Add", {of_inputs("skip"), layers.Bias("skip")})});
  }
  // [B, Q, G, 1] to [B, Q G]: 0 keeps the batch.
  std::string scores = graph.Node("Reshape", {score, graph.Integers({0, -1})});
  if (bundle.has_done()) {
    const std::string done = layers.Linear("done", layers.Hidden("done_hidden", c));
    scores = graph.Node("Concat", {scores, done}, {{"axis", {1}}});
  }
  layers.Outputs(scores, layers.Linear("value", layers.Hidden("value_hidden", c)));
}

}  // namespace

PairScorerOptions ReadPairScorerOptions(Params& params) {
  PairScorerOptions options;
  options.width = static_cast<int>(params.Integer("width", 1, 1024));
  options.layers = static_cast<int>(params.Integer("layers", 1, 8));
  options.activation =
      params.Choice("activation", {"relu", "tanh"}) == 0 ? Activation::kRelu : Activation::kTanh;
  options.skip = params.Bool("skip");
  return options;
}

ArchitectureInfo PairScorerArchitecture() {
  return {"pair_scorer",
          "one network shared by all (job, type) pairs, plus pooled context; any queue, any cluster",
          "after RLScheduler's kernel network (Zhang et al., SC 2020) and Decima (Mao et al., SIGCOMM 2019)",
          /*any_size=*/true,
          kParams,
          Layers,
          MakeFrozen,
          Onnx};
}

}  // namespace berth
