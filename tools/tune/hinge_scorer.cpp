#include "tools/tune/hinge_scorer.hpp"

#include <algorithm>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/gym/sched_env.hpp"
#include "policies/architecture.hpp"
#include "policies/inference.hpp"
#include "policies/networks/pair_scorer.hpp"
#include "policies/schedulers.hpp"

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
      throw Error(Join("expected channels of jobs or pairs of ", mdp_.encoder, ", found '", name, "'",
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
    if (layer.name == kPairInputLayer) {
      for (int unit = 0; unit < width; ++unit) {
        const double* from =
            unit < 2 ? numbers.data() : numbers.data() + inputs_ + (unit - 2) * (inputs_ + 2);
        const double sign = unit == 1 ? -1.0 : 1.0;
        float* row = weight.values.data() + U(unit) * inputs + 1;  // behind `present`
        for (int i = 0; i < inputs_; ++i) row[i] = static_cast<float>(sign * from[i]);
        if (unit >= 2) bias.values[U(unit)] = static_cast<float>(from[inputs_]);
      }
    } else if (layer.name == kPairScoreLayer) {
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

void AddExamples(const Scenario& scenario, PolicyBundle& bundle) {
  constexpr int kExamples = 16, kEvery = 8;
  SchedEnvOptions options;
  options.mdp = bundle.mdp;
  options.warmup_jobs = 0;
  options.episode_jobs = scenario.num_jobs();
  SchedEnv env(FixedSource(scenario, "examples"), options, 0);
  env.Begin(0);
  const auto network = Freeze(bundle);
  std::vector<float> scores(U(env.num_actions()));
  BundleExamples& examples = bundle.examples;
  examples = {};
  for (int step = 0; examples.count < kExamples; ++step) {
    const float value = network->Evaluate(env.observation(), env.layout(), scores);
    const std::span<const std::uint8_t> mask = env.mask();
    if (step % kEvery == 0) {
      ++examples.count;
      examples.observation.insert(examples.observation.end(), env.observation().begin(),
                                  env.observation().end());
      examples.mask.insert(examples.mask.end(), mask.begin(), mask.end());
      examples.scores.insert(examples.scores.end(), scores.begin(), scores.end());
      examples.value.push_back(value);
    }
    std::size_t best = scores.size();
    for (std::size_t a = 0; a < scores.size(); ++a) {
      if (mask[a] != 0 && (best == scores.size() || scores[a] > scores[best])) best = a;
    }
    const SchedEnv::Outcome outcome = env.Step(static_cast<int>(best));
    if (outcome.terminated || outcome.truncated) return;
  }
}

HingePolicy::HingePolicy(HingeScorer scorer, const std::string& start, std::uint64_t seed, Scenario example)
    : scorer_(std::move(scorer)), example_(std::move(example)) {
  Stream stream(seed, Purpose::kInit);
  space_ = {scorer_.Start(start, stream), std::vector<double>(U(scorer_.size()), 1.0)};
}

std::unique_ptr<Scheduler> HingePolicy::Make(std::span<const double> point) const {
  return MakePolicyScheduler(scorer_.Bundle(point), "policy", /*sample=*/false);
}

void HingePolicy::Save(std::span<const double> point, const Provenance& how, const std::string& path) const {
  PolicyBundle bundle = scorer_.Bundle(point);
  AddExamples(example_, bundle);
  bundle.provenance = how;
  SaveBundle(bundle, path);
}

}  // namespace berth
