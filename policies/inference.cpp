#include "policies/inference.hpp"

#include <algorithm>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

constexpr std::size_t kBlockFloats =
    2048;  // of a block's pairs at once, in and out: half of a first-level cache

#define BERTH_FORM(kind) Plain##kind,
constexpr decltype(&PlainDense) kPlainForms[] = {BERTH_NETWORK_STEPS(BERTH_FORM)};
#undef BERTH_FORM

}  // namespace

std::size_t PlainRun::Count(RowOf rows) const {
  switch (rows) {
    case RowOf::kState:
      return 1;
    case RowOf::kType:
      return U(layout.g);
    case RowOf::kJob:
      return jobs.size();
    case RowOf::kPair:
      return (end - begin) * U(layout.g);
    case RowOf::kPoint:
      return U(points);
  }
  return 0;
}

FrozenNetwork::FrozenNetwork(NetworkDescription net, const PolicyBundle& bundle)
    : net_(std::move(net)),
      any_size_(!net_.Reads(NetworkDescription::observation())),
      over_jobs_(net_.Reads(NetworkDescription::jobs()) || net_.Reads(NetworkDescription::pairs())) {
  for (const NetworkStep& step : net_.steps()) {
    steps_.push_back(kPlainForms[static_cast<int>(step.kind)](net_, step, bundle));
    over_pairs_.push_back(net_.OverPairs(step));
  }
  run_.points = net_.points();
  begin_.resize(U(net_.memory()));
  run_.read.resize(net_.values().size());
  run_.write.resize(net_.values().size());
  ShareMemory();
}

void FrozenNetwork::ShareMemory() {
  memory_of_.resize(net_.values().size());
  std::vector<std::size_t> free_from;  // by memory: the step from which on nobody needs it
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ValueId output = net_.steps()[i].output;
    std::size_t last = steps_.size(), found = free_from.size();
    if (net_.values()[U(output)].rows == RowOf::kPair) {
      widest_ = std::max(widest_, U(net_.values()[U(output)].width));
      for (std::size_t k = i + 1; k < steps_.size(); ++k) {
        const NetworkStep& reader = net_.steps()[k];
        const auto at = std::find(reader.inputs.begin(), reader.inputs.end(), output);
        if (at != reader.inputs.end() || reader.onto == output) last = k;
      }
      found = U(static_cast<int>(
          std::find_if(free_from.begin(), free_from.end(), [&](std::size_t from) { return from < i; }) -
          free_from.begin()));
    }
    if (found == free_from.size()) free_from.push_back(0);
    free_from[found] = last;
    memory_of_[U(output)] = found;
  }
  memory_.resize(free_from.size());
}

float FrozenNetwork::Evaluate(std::span<const float> observation, const ObservationLayout& layout,
                              std::span<float> scores, std::span<const float> state, std::span<float> next) {
  if (layout != run_.layout || memory_[0].empty()) MakeRoom(layout);
  BERTH_CHECK(observation.size() == U(layout.size()) && scores.size() == actions_, observation.size(),
              " floats, ", scores.size(), " scores");
  BERTH_CHECK(
      (state.empty() || state.size() == begin_.size()) && (next.empty() || next.size() == begin_.size()),
      state.size(), " and ", next.size(), " floats of a memory of ", begin_.size());
  Read(observation);
  run_.read[U(NetworkDescription::state())] = state.empty() ? begin_.data() : state.data();
  run_.read[U(net_.scores())] = run_.write[U(net_.scores())] = scores.data();
  for (std::size_t i = 0; i < steps_.size();) {
    if (!over_pairs_[i]) {
      steps_[i++](run_);
      continue;
    }
    std::size_t last = i;
    while (last < steps_.size() && over_pairs_[last]) ++last;
    RunOverPairs(i, last);
    i = last;
  }
  if (!next.empty()) std::copy_n(run_.read[U(net_.next())], next.size(), next.data());
  return run_.read[U(net_.value())][0];
}

// For as many jobs as the queue holds.
void FrozenNetwork::MakeRoom(const ObservationLayout& layout) {
  ObservationLayout same = net_.layout();
  if (any_size_) {
    same.q = layout.q;
    same.g = layout.g;
  }
  BERTH_CHECK(same == layout && (!over_jobs_ || (layout.q > 0 && layout.g > 0)), "layout of ", layout.q,
              " x ", layout.g);
  const std::size_t jobs = U(layout.q), types = U(layout.g);
  block_ = std::max<std::size_t>(1, kBlockFloats / std::max<std::size_t>(1, types * widest_));
  const std::size_t rows[] = {1, types, jobs, block_ * types, U(net_.points())};  // by RowOf
  for (const NetworkStep& step : net_.steps()) {
    const NetworkValue& value = net_.values()[U(step.output)];
    const bool of_pairs = value.rows == RowOf::kPair;
    const std::size_t floats = of_pairs ? widest_ : value.Floats(jobs * types);
    std::vector<float>& memory = memory_[memory_of_[U(step.output)]];
    if (memory.size() < rows[static_cast<int>(value.rows)] * floats) {
      memory.resize(rows[static_cast<int>(value.rows)] * floats);
    }
    run_.read[U(step.output)] = run_.write[U(step.output)] = memory.data();
  }
  actions_ = net_.values()[U(net_.scores())].Floats(jobs * types);
  run_.layout = layout;
}

void FrozenNetwork::Read(std::span<const float> observation) {
  const ObservationLayout& layout = run_.layout;
  const std::size_t channels = U(layout.job_channels);
  run_.jobs.clear();
  jobs_.clear();
  const float* jobs = observation.data() + layout.jobs_offset();
  for (int q = 0; over_jobs_ && q < layout.q; ++q) {
    const float* row = jobs + U(q) * channels;
    if (row[0] == 0.0F) continue;
    run_.jobs.push_back(q);
    jobs_.insert(jobs_.end(), row, row + channels);
  }
  run_.read[U(NetworkDescription::jobs())] = jobs_.data();
  run_.read[U(NetworkDescription::pairs())] = observation.data() + layout.pairs_offset();
  run_.read[U(NetworkDescription::types())] = observation.data() + layout.types_offset();
  run_.read[U(NetworkDescription::global())] = observation.data() + layout.global_offset();
  run_.read[U(NetworkDescription::observation())] = observation.data();
}

void FrozenNetwork::RunOverPairs(std::size_t first, std::size_t last) {
  run_.begin = 0;
  do {
    run_.end = std::min(run_.begin + block_, run_.jobs.size());
    for (std::size_t i = first; i < last; ++i) steps_[i](run_);
    run_.begin = run_.end;
  } while (run_.begin < run_.jobs.size());
}

std::unique_ptr<FrozenNetwork> Freeze(const PolicyBundle& bundle) {
  NetworkDescription net = Describe(bundle.network, bundle.layout, bundle.num_actions);
  const std::vector<LayerSpec>& layers = net.layers();
  if (bundle.arrays.size() != 2 * layers.size()) {
    throw Error(Join("policy: expected the ", 2 * layers.size(), " arrays of ", bundle.network, ", found ",
                     bundle.arrays.size()));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& layer = layers[i];
    const NamedArray& weight = bundle.arrays[2 * i];
    const NamedArray& bias = bundle.arrays[2 * i + 1];
    const std::vector<std::int64_t> wanted = {layer.outputs, layer.inputs};
    const std::size_t outputs = U(layer.outputs), inputs = U(layer.inputs);
    if (weight.name != layer.name + ".weight" || bias.name != layer.name + ".bias" ||
        weight.shape != wanted || weight.values.size() != outputs * inputs || bias.values.size() != outputs) {
      throw Error(Join("policy: expected layer '", layer.name, "' of ", layer.outputs, " x ", layer.inputs,
                       " as ", bundle.network, " has it, found '", weight.name, "' of ", weight.values.size(),
                       " weights and ", bias.values.size(), " biases"));
    }
  }
  return std::make_unique<FrozenNetwork>(std::move(net), bundle);
}

}  // namespace berth
