#include "tools/evolve/hinge_scorer.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "policies/architecture.hpp"
#include "tools/results.hpp"

namespace berth {

HingeScorer::HingeScorer(const MdpSpec& mdp, Reserve reserve, int hinges, std::vector<std::string> types)
    : mdp_(mdp),
      reserve_(reserve),
      hinges_(hinges),
      encoder_(EncoderOf(mdp.encoder)),
      types_(std::move(types)) {
  if (encoder_.pair.empty()) {
    throw Error(Join("encoder: expected one with a block of pairs, found ", mdp.encoder));
  }
  inputs_ = static_cast<int>(encoder_.job.size() + encoder_.pair.size()) - 1;
}

std::vector<double> HingeScorer::Start(const std::string& text, Stream& stream) const {
  std::vector<std::string> names;
  for (const ChannelInfo& channel : std::span(encoder_.job).subspan(1)) names.emplace_back(channel.name);
  for (const ChannelInfo& channel : encoder_.pair) names.emplace_back(channel.name);
  std::vector<double> numbers(U(size()), 0.0);
  const Spec spec = ParseSpec(Join("start(", text, ")"));
  for (const auto& [name, value] : spec.params) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(Join("start: expected channels of jobs or pairs of ", mdp_.encoder, ", found '", name, "'",
                       DidYouMean(name, names)));
    }
    numbers[U(static_cast<int>(found - names.begin()))] = ParseNumber(value, name);
  }
  for (int h = 0; h < hinges_; ++h) {
    double* b = numbers.data() + inputs_ + h * (inputs_ + 2);
    for (int i = 0; i < inputs_; ++i) b[i] = stream.Normal();
  }
  return numbers;
}

PolicyBundle HingeScorer::Bundle(std::span<const double> numbers) const {
  BERTH_CHECK(numbers.size() == U(size()), numbers.size(), " numbers");
  const int width = 2 + hinges_;
  PolicyBundle bundle;
  bundle.network = ResolveArchitecture(Join("pair_scorer(width=", width, ",layers=1)"));
  bundle.mdp = mdp_;
  bundle.reserve = reserve_;
  bundle.gpu_types = types_;
  bundle.layout = encoder_.Layout(mdp_.visible, static_cast<int>(types_.size()));
  const int pairs = bundle.layout.q * bundle.layout.g;
  bundle.num_actions = pairs + (mdp_.semantics == Semantics::kCommit ? 0 : 1);
  for (const LayerSpec& layer : LayersOf(bundle.network, bundle.layout, bundle.num_actions)) {
    const std::size_t inputs = U(layer.inputs), outputs = U(layer.outputs);
    NamedArray weight{layer.name + ".weight", {layer.outputs, layer.inputs}, {}};
    NamedArray bias{layer.name + ".bias", {layer.outputs}, std::vector<float>(outputs, 0.0F)};
    weight.values.assign(inputs * outputs, 0.0F);
    if (layer.name == "pair_0") {
      for (int unit = 0; unit < width; ++unit) {
        const double* from =
            unit < 2 ? numbers.data() : numbers.data() + inputs_ + (unit - 2) * (inputs_ + 2);
        const double sign = unit == 1 ? -1.0 : 1.0;
        float* row = weight.values.data() + U(unit) * inputs + 1;  // behind `present`
        for (int i = 0; i < inputs_; ++i) row[i] = static_cast<float>(sign * from[i]);
        if (unit >= 2) bias.values[U(unit)] = static_cast<float>(from[inputs_]);
      }
    } else if (layer.name == "score") {
      weight.values[0] = -1.0F;
      weight.values[1] = 1.0F;
      for (int h = 0; h < hinges_; ++h) {
        weight.values[U(2 + h)] = static_cast<float>(numbers[U(inputs_ + h * (inputs_ + 2) + inputs_ + 1)]);
      }
    }
    bundle.arrays.push_back(std::move(weight));
    bundle.arrays.push_back(std::move(bias));
  }
  return bundle;
}

}  // namespace berth
