#include "agents/nn/fused/fused_network.hpp"

#include <algorithm>
#include <utility>

#include "env/base/check.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

// What a chunk touches of hidden layers, their gradients and what is made of these should stay in the
// second-level cache.
constexpr std::size_t kChunkFloats = 160000;
// With attention, products over types, points and states have few rows a state: more states at once are worth
// more than the cache.
constexpr std::size_t kAttendedChunkFloats = 4 * kChunkFloats;

using Kind = NetworkStep::Kind;
using Make = std::unique_ptr<FusedStep> (*)(const LayerViews& views, const NetworkStep& step);

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

// How a layer is computed here; null: not at all.
Make DenseForm(const NetworkDescription& net, const NetworkStep& step) {
  const auto reads = [&](RowOf rows) {
    return std::any_of(step.inputs.begin(), step.inputs.end(),
                       [&](ValueId input) { return net.values()[U(input)].rows == rows; });
  };
  const NetworkValue& output = net.values()[U(step.output)];
  const bool mixed = std::any_of(step.inputs.begin(), step.inputs.end(),
                                 [&](ValueId input) { return net.values()[U(input)].rows != output.rows; });
  if (!mixed) return step.onto < 0 || step.inputs.size() == 1 ? FusedLayer : nullptr;
  if (output.rows != RowOf::kPair || !reads(RowOf::kPair)) return nullptr;
  if (output.width == 1 && !reads(RowOf::kState) && step.activation == Activation::kNone) {
    return FusedColumn;
  }
  return step.onto < 0 ? FusedLayer : nullptr;
}

// The values whose numbers stand side by side in the scores.
std::vector<ValueId> PiecesOf(const NetworkDescription& net, ValueId scores) {
  for (const NetworkStep& step : net.steps()) {
    if (step.output == scores && step.kind == Kind::kConcat) return step.inputs;
  }
  return {scores};
}

}  // namespace

bool FusedNetwork::Takes(const NetworkDescription& net) {
  const std::vector<ValueId> pieces = PiecesOf(net, net.scores());
  return std::all_of(net.steps().begin(), net.steps().end(), [&](const NetworkStep& step) {
    switch (step.kind) {
      case Kind::kDense:
        return DenseForm(net, step) != nullptr;
      case Kind::kMean:
      case Kind::kMax:
      case Kind::kNormalize:
      case Kind::kPoints:
      case Kind::kAttend:
      case Kind::kCollect:
      case Kind::kGate:
        return true;
      case Kind::kActions:
        return std::find(pieces.begin(), pieces.end(), step.output) != pieces.end();
      case Kind::kConcat:
        return step.output == net.scores();
      default:
        return false;  // a kind without a fused form: autograd learns it
    }
  });
}

FusedNetwork::FusedNetwork(NetworkDescription net, std::span<const ParameterView> parameters)
    : net_(std::move(net)) {
  BERTH_CHECK(Takes(net_), "a step without a fused form");
  std::size_t size = 0;
  for (const ParameterView& parameter : parameters) size += parameter.size;
  gradient_.resize(size);
  pass_.types = net_.layout().g;
  pass_.points = net_.points();
  for (const NetworkValue& value : net_.values()) {
    pass_.values.emplace_back();
    pass_.values.back().rows = value.rows;
    pass_.values.back().width = value.width;
  }
  const LayerViews views(net_, parameters, gradient_.data(), &multiply_adds_);
  for (const NetworkStep& step : net_.steps()) AddStage(step, views);
  ChooseChunks();
  std::ptrdiff_t first = 0;
  for (const ValueId value : PiecesOf(net_, net_.scores())) {
    const auto made = std::find_if(net_.steps().begin(), net_.steps().end(),
                                   [&](const NetworkStep& step) { return step.output == value; });
    const bool of_pairs = made->kind == Kind::kActions;
    pieces_.push_back({of_pairs ? made->inputs[0] : value, of_pairs, first});
    const NetworkValue& about = net_.values()[U(value)];
    first += about.width + about.per_pair * net_.layout().q * net_.layout().g;
  }
}

void FusedNetwork::AddStage(const NetworkStep& step, const LayerViews& views) {
  FusedValue& output = pass_.At(step.output);
  output.computed = true;
  int readers = 0;
  bool alone = false;
  const std::vector<bool> for_scores = WhatMakes(net_.scores()), for_next = WhatMakes(net_.next());
  for (auto it = net_.steps().rbegin(); it != net_.steps().rend(); ++it) {
    readers += it->onto == step.output;
    for (const ValueId input : it->inputs) {
      readers += input == step.output;
      if (input == step.output) alone = it->kind == Kind::kDense && it->inputs.size() == 1;
    }
  }
  if (step.kind == Kind::kDense) output.activation = step.activation;
  output.gated = output.activation != Activation::kNone && readers == 1 && alone;
  const auto add = [&](std::unique_ptr<FusedStep> made) {
    stages_.push_back({std::move(made), net_.OverPairs(step), static_cast<bool>(for_scores[U(step.output)]),
                       static_cast<bool>(for_next[U(step.output)])});
  };
  if (step.kind == Kind::kDense) {
    add(DenseForm(net_, step)(views, step));
  } else if (step.kind == Kind::kNormalize) {
    add(FusedNormalize(step));
  } else if (step.kind == Kind::kPoints) {
    add(FusedPoints(step));
  } else if (step.kind == Kind::kAttend) {
    add(FusedAttend(views, step));
  } else if (step.kind == Kind::kCollect) {
    add(FusedCollect(net_.layout(), step));
  } else if (step.kind == Kind::kGate) {
    add(FusedGate(step));
  } else if (step.kind == Kind::kMean && pass_.At(step.inputs[0]).rows != RowOf::kJob) {
    add(FusedMeanOfRows(step));
  } else if (step.kind == Kind::kMean || step.kind == Kind::kMax) {
    for (Stage& stage : stages_) {
      auto* pool = dynamic_cast<FusedPool*>(stage.step.get());
      if (pool == nullptr || pool->input() != step.inputs[0]) continue;
      pool->Add(step);
      stage.for_scores = stage.for_scores || for_scores[U(step.output)];
      stage.for_next = stage.for_next || for_next[U(step.output)];
      return;
    }
    auto pool = std::make_unique<FusedPool>(step.inputs[0]);
    pool->Add(step);
    add(std::move(pool));
  }
}

std::vector<bool> FusedNetwork::WhatMakes(ValueId wanted) const {
  std::vector<bool> makes(pass_.values.size());
  if (wanted < 0) return makes;
  makes[U(wanted)] = true;
  for (auto it = net_.steps().rbegin(); it != net_.steps().rend(); ++it) {
    if (!makes[U(it->output)]) continue;
    if (it->onto >= 0) makes[U(it->onto)] = true;
    for (const ValueId input : it->inputs) makes[U(input)] = true;
  }
  return makes;
}

void FusedNetwork::ChooseChunks() {
  std::size_t widest = 0, hidden = 0, all = U(net_.layout().size());
  over_pairs_ = net_.ReadsBlocks();
  for (const NetworkStep& step : net_.steps()) {
    if (step.kind != Kind::kDense) continue;
    const std::size_t units = U(pass_.At(step.output).width);
    all += units;
    const bool counts = !over_pairs_ || net_.OverPairs(step);
    if (step.activation == Activation::kNone || !counts) continue;
    hidden += units;
    widest = std::max(widest, units);
  }
  // Of jobs and the like that are attended to, what a pair's share is of a job.
  std::size_t attended = 0;
  for (const NetworkStep& step : net_.steps()) {
    if (net_.points() > 0 && pass_.At(step.output).rows == RowOf::kJob)
      attended += U(pass_.At(step.output).width);
  }
  hidden += attended / std::max<std::size_t>(1, U(net_.layout().g));
  const std::size_t floats = net_.points() > 0 ? kAttendedChunkFloats : kChunkFloats;
  if (over_pairs_) {
    limit_ = std::max(floats / std::max<std::size_t>(1, hidden + 2 * widest), U(net_.layout().g));
  } else {
    limit_ = std::max<std::size_t>(24, kChunkFloats / (all + U(net_.num_actions()) + 2 * widest) / 12 * 12);
  }
}

void FusedNetwork::Refresh() {
  for (const Stage& stage : stages_) stage.step->Refresh();
}

std::size_t FusedNetwork::ChunkOf(std::span<const float* const> rows) const {
  if (!over_pairs_) {
    const std::size_t chunks = (rows.size() + limit_ - 1) / limit_;
    return (rows.size() + chunks - 1) / chunks;
  }
  std::size_t pairs = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r + 1 < rows.size()) Prefetch(rows[r + 1]);
    pairs += U(Present(rows[r])) * U(net_.layout().g);
    if (pairs > limit_ && r > 0) return r;
  }
  return rows.size();
}

int FusedNetwork::Present(const float* row) const {
  int present = 0;
  const float* jobs = row + net_.layout().jobs_offset();
  for (int q = 0; q < net_.layout().q; ++q) present += jobs[q * net_.layout().job_channels] != 0.0F;
  return present;
}

// Minibatches take observations from all over a rollout: the jobs of the next are asked for in time.
void FusedNetwork::Prefetch(const float* row) const {
  constexpr int kLine = 16;  // floats
  const float* jobs = row + net_.layout().jobs_offset();
  for (int k = 0; k < net_.layout().q * net_.layout().job_channels; k += kLine) __builtin_prefetch(jobs + k);
}

// The inputs, of jobs those present in all states, one after the other.
void FusedNetwork::Gather(std::span<const float* const> rows, const float* states) {
  const ObservationLayout& layout = net_.layout();
  pass_.states = static_cast<std::ptrdiff_t>(rows.size());
  const auto copy = [&](ValueId value, int offset, std::ptrdiff_t size) {
    FusedValue& to = pass_.At(value);
    FusedPass::Fit(to.memory, pass_.states * size);
    to.data = to.memory.data();
    for (std::ptrdiff_t s = 0; s < pass_.states; ++s) {
      std::copy_n(rows[U(s)] + offset, size, to.data + s * size);
    }
  };
  if (net_.Reads(net_.observation())) copy(net_.observation(), 0, layout.size());
  if (net_.memory() > 0 && states == nullptr) {
    copy(net_.state(), layout.size(), net_.memory());
  } else if (net_.memory() > 0) {
    std::copy_n(states, pass_.states * net_.memory(), pass_.Out(net_.state()));
  }
  if (!over_pairs_) return;
  copy(net_.types(), layout.types_offset(), layout.g * layout.type_channels);
  copy(net_.global(), layout.global_offset(), layout.global_channels);
  const std::ptrdiff_t fj = layout.job_channels, pairs = layout.g * layout.pair_channels;
  pass_.jobs = 0;
  runs_.clear();
  pass_.begin.clear();
  pass_.queue.clear();
  for (std::ptrdiff_t s = 0; s < pass_.states; ++s) {
    pass_.begin.push_back(pass_.jobs);
    const float* jobs = rows[U(s)] + layout.jobs_offset();
    bool follows = false;
    for (int q = 0; q < layout.q; ++q) {
      const bool present = jobs[q * fj] != 0.0F;
      if (present && !follows) runs_.push_back({pass_.jobs, 0, s, q});
      if (present) ++runs_.back().count, ++pass_.jobs;
      if (present && layout.edges > 0) pass_.queue.push_back(q);
      follows = present;
    }
  }
  pass_.begin.push_back(pass_.jobs);
  float* of_jobs = pass_.Out(net_.jobs());
  float* of_pairs = pass_.Out(net_.pairs());
  for (const Run& run : runs_) {
    const float* row = rows[U(run.state)];
    std::copy_n(row + layout.jobs_offset() + run.queue * fj, run.count * fj, of_jobs + run.first * fj);
    std::copy_n(row + layout.pairs_offset() + run.queue * pairs, run.count * pairs,
                of_pairs + run.first * pairs);
  }
}

// f(first among the scores, first among the value's numbers, how many stand side by side in both)
template <class F>
void FusedNetwork::EachRange(const Piece& piece, const F& f) const {
  const std::ptrdiff_t actions = net_.num_actions() * net_.outputs();
  const std::ptrdiff_t width = net_.values()[U(piece.value)].width, job = net_.layout().g * width;
  if (!piece.of_pairs) {
    for (std::ptrdiff_t s = 0; s < pass_.states; ++s) f(s * actions + piece.first, s * width, width);
    return;
  }
  for (const Run& run : runs_) {
    f(run.state * actions + piece.first + run.queue * job, run.first * job, run.count * job);
  }
}

void FusedNetwork::Recall(std::span<const float* const> rows, float* next, const float* states) {
  BERTH_CHECK(net_.memory() > 0, "no memory");
  Gather(rows, states);
  for (const Stage& stage : stages_) {
    if (stage.for_next) stage.step->Forward(pass_);
  }
  std::copy_n(pass_.At(net_.next()).data, pass_.states * net_.memory(), next);
}

void FusedNetwork::Forward(std::span<const float* const> rows, float* scores, float* values, float* next,
                           const float* states) {
  Gather(rows, states);
  const bool in_place = pieces_.size() == 1 && !pieces_[0].of_pairs;
  if (in_place) pass_.At(net_.scores()).data = scores;
  if (values != nullptr) pass_.At(net_.value()).data = values;
  for (const Stage& stage : stages_) {
    if (stage.for_scores || values != nullptr) stage.step->Forward(pass_);
  }
  if (next != nullptr) std::copy_n(pass_.At(net_.next()).data, pass_.states * net_.memory(), next);
  if (in_place) return;
  std::fill_n(scores, pass_.states * net_.num_actions() * net_.outputs(), 0.0F);
  for (const Piece& piece : pieces_) {
    const float* from = pass_.At(piece.value).data;
    EachRange(piece, [&](std::ptrdiff_t of_scores, std::ptrdiff_t of_value, std::ptrdiff_t count) {
      std::copy_n(from + of_value, count, scores + of_scores);
    });
  }
}

void FusedNetwork::Backward(const float* d_scores, const float* d_values, const float* d_next,
                            float* d_states) {
  for (FusedValue& value : pass_.values) value.has_gradient = false;
  for (const Piece& piece : pieces_) {
    float* to = pass_.GradientOf(piece.value);
    EachRange(piece, [&](std::ptrdiff_t of_scores, std::ptrdiff_t of_value, std::ptrdiff_t count) {
      std::copy_n(d_scores + of_scores, count, to + of_value);
    });
    pass_.Given(piece.value);
  }
  if (d_values != nullptr) {
    std::copy_n(d_values, pass_.states, pass_.GradientOf(net_.value()));
    pass_.Given(net_.value());
  }
  if (d_next != nullptr) {
    std::copy_n(d_next, pass_.states * net_.memory(), pass_.GradientOf(net_.next()));
    pass_.Given(net_.next());
  }
  // Pairs first, from the last step to the first: the order in which gradients are summed.
  for (const bool over_pairs : {true, false}) {
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
      if (stage->over_pairs == over_pairs && (stage->for_scores || d_values != nullptr)) {
        stage->step->Backward(pass_);
      }
    }
  }
  if (d_states != nullptr)
    std::copy_n(pass_.At(net_.state()).gradient.data(), pass_.states * net_.memory(), d_states);
}

std::unique_ptr<FusedNetwork> MakeFused(const std::string& spec, const ObservationLayout& layout,
                                        int num_actions, std::span<const ParameterView> parameters) {
  NetworkDescription net = Describe(spec, layout, num_actions);
  if (!FusedNetwork::Takes(net)) return nullptr;
  return std::make_unique<FusedNetwork>(std::move(net), parameters);
}

}  // namespace berth
