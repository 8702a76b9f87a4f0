#include "tools/tune/policy_weights.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/gym/encoder.hpp"
#include "policies/inference.hpp"
#include "policies/networks/pair_scorer.hpp"
#include "policies/schedulers.hpp"

namespace berth {
namespace {

// Answers the bundle's examples by its own network.
void AnswerExamples(PolicyBundle& bundle) {
  const std::unique_ptr<FrozenNetwork> network = Freeze(bundle);
  BundleExamples& examples = bundle.examples;
  const std::size_t size = U(bundle.layout.size()), row_size = size + U(network->memory()),
                    actions = U(bundle.num_actions);
  for (std::size_t row = 0; row < U(examples.count); ++row) {
    const auto stored = std::span<const float>(examples.observation).subspan(row * row_size, row_size);
    examples.value[row] = network->Evaluate(stored.first(size), bundle.layout,
                                            std::span<float>(examples.scores).subspan(row * actions, actions),
                                            stored.subspan(size));
  }
}

// Scores [n, A] of the examples; `done` of a work-conserving policy decides nothing and is 0.
std::vector<float> ExampleScores(PolicyBundle bundle) {
  AnswerExamples(bundle);
  const std::size_t actions = U(bundle.num_actions);
  std::vector<float> scores = std::move(bundle.examples.scores);
  if (bundle.has_done() && bundle.mdp.work_conserving) {
    for (std::size_t done = actions - 1; done < scores.size(); done += actions) scores[done] = 0.0F;
  }
  return scores;
}

// "score" of "score.weight".
std::string LayerName(const NamedArray& array) {
  return array.name.substr(0, array.name.rfind('.'));
}

}  // namespace

PolicyWeights::PolicyWeights(PolicyBundle bundle, const std::vector<std::string>& layers,
                             const std::string& reward)
    : bundle_(std::move(bundle)), scales_(WeightScales(bundle_, layers)) {
  bundle_.mdp.reward = reward;
}

search::Space PolicyWeights::Space() const {
  search::Space space;
  for (std::size_t array = 0; array < scales_.size(); ++array) {
    if (scales_[array] == 0.0) continue;
    for (const float value : bundle_.arrays[array].values) {
      space.start.push_back(value);
      space.scales.push_back(scales_[array]);
    }
  }
  return space;
}

PolicyBundle PolicyWeights::At(std::span<const double> point) const {
  PolicyBundle bundle = bundle_;
  std::size_t i = 0;
  for (std::size_t array = 0; array < scales_.size(); ++array) {
    if (scales_[array] == 0.0) continue;
    for (float& value : bundle.arrays[array].values) value = static_cast<float>(point[i++]);
  }
  return bundle;
}

std::unique_ptr<Scheduler> PolicyWeights::Make(std::span<const double> point) const {
  return MakePolicyScheduler(At(point), "policy", /*sample=*/false);
}

void PolicyWeights::Save(std::span<const double> point, const Provenance& how,
                         const std::string& path) const {
  PolicyBundle bundle = At(point);
  AnswerExamples(bundle);
  bundle.provenance.agent += Join(" then ", how.agent);
  SaveBundle(bundle, path);
}

std::vector<double> WeightScales(const PolicyBundle& bundle, const std::vector<std::string>& layers) {
  std::vector<std::string> names;
  for (const NamedArray& array : bundle.arrays) names.push_back(LayerName(array));
  for (const std::string& layer : layers) {
    if (std::find(names.begin(), names.end(), layer) == names.end()) {
      throw Error(
          Join("expected layers of ", bundle.network, ", found '", layer, "'", DidYouMean(layer, names)));
    }
  }
  const std::vector<float> before = ExampleScores(bundle);
  Stream stream(0, Purpose::kInit);
  std::vector<double> scales;
  for (std::size_t array = 0; array < bundle.arrays.size(); ++array) {
    const NamedArray& weights = bundle.arrays[array];
    double square = 0.0;
    for (float value : weights.values) square += static_cast<double>(value) * value;
    const double floor =
        weights.shape.size() > 1 ? 1.0 / std::sqrt(static_cast<double>(weights.shape[1])) : 0.1;
    const double rms =
        std::sqrt(square / static_cast<double>(std::max<std::size_t>(1, weights.values.size())));
    PolicyBundle other = bundle;
    for (float& value : other.arrays[array].values) value += static_cast<float>(stream.Normal());
    const bool named =
        layers.empty() || std::find(layers.begin(), layers.end(), names[array]) != layers.end();
    scales.push_back(!named || ExampleScores(other) == before ? 0.0 : std::max(rms, floor));
  }
  return scales;
}

PolicyBundle WithLinearStart(const PolicyBundle& bundle, const std::string& weights) {
  const EncoderInfo& encoder = EncoderOf(bundle.mdp.encoder);
  std::vector<std::string> channels;
  for (const ChannelInfo& channel : encoder.job) channels.push_back(Join("job.", channel.name));
  for (const ChannelInfo& channel : encoder.pair) channels.push_back(Join("pair.", channel.name));
  for (const ChannelInfo& channel : encoder.type) channels.push_back(Join("type.", channel.name));
  PolicyBundle with = bundle;
  const auto skip = std::find_if(with.arrays.begin(), with.arrays.end(),
                                 [](const NamedArray& array) { return LayerName(array) == kPairSkipLayer; });
  if (skip == with.arrays.end() || skip->values.size() != channels.size()) {
    throw Error(Join("expected a network with a layer 'skip', such as pair_scorer(skip=true), found ",
                     bundle.network));
  }
  std::fill(skip->values.begin(), skip->values.end(), 0.0F);
  for (const std::string& entry : SplitOutsideParentheses(weights, ',')) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const auto channel = std::find(channels.begin(), channels.end(), name);
    if (equals == std::string::npos || channel == channels.end()) {
      throw Error(Join("expected channels of ", bundle.mdp.encoder, " with weights, such as ",
                       channels.front(), "=1, found '", entry, "'", DidYouMean(name, channels)));
    }
    skip->values[U(channel - channels.begin())] =
        static_cast<float>(ParseNumber(entry.substr(equals + 1), name));
  }
  with.provenance.agent += Join(" then start(", weights, ")");
  return with;
}

}  // namespace berth
