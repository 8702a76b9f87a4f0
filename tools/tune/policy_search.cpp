#include "tools/tune/policy_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/base/thread_team.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/episode_draw.hpp"
#include "policies/inference.hpp"
#include "policies/networks/pair_scorer.hpp"
#include "policies/schedulers.hpp"
#include "tools/results.hpp"
#include "tools/tune/window_mean.hpp"

namespace berth {
namespace {

// Answers the bundle's examples by its own network.
void AnswerExamples(PolicyBundle& bundle) {
  const std::unique_ptr<FrozenNetwork> network = Freeze(bundle);
  BundleExamples& examples = bundle.examples;
  const std::size_t size = U(bundle.layout.size()), actions = U(bundle.num_actions);
  for (std::size_t row = 0; row < U(examples.count); ++row) {
    examples.value[row] =
        network->Evaluate(std::span<const float>(examples.observation).subspan(row * size, size),
                          bundle.layout, std::span<float>(examples.scores).subspan(row * actions, actions));
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

// The weights in units of their scales, and Adam's moments.
class Weights {
 public:
  Weights(const PolicyBundle& bundle, const std::vector<std::string>& layers)
      : bundle_(bundle), scales_(WeightScales(bundle, layers)) {
    for (std::size_t array = 0; array < scales_.size(); ++array) {
      if (scales_[array] == 0.0) continue;
      for (float value : bundle.arrays[array].values) center_.push_back(value / scales_[array]);
    }
    mean_.resize(center_.size());
    square_.resize(center_.size());
  }

  std::size_t size() const { return center_.size(); }

  // The policy at center + noise * factor; `noise` empty: at the centre.
  PolicyBundle At(std::span<const float> noise, double factor) const {
    PolicyBundle bundle = bundle_;
    std::size_t i = 0;
    for (std::size_t array = 0; array < scales_.size(); ++array) {
      if (scales_[array] == 0.0) continue;
      for (float& value : bundle.arrays[array].values) {
        value = static_cast<float>((center_[i] + (noise.empty() ? 0.0 : factor * noise[i])) * scales_[array]);
        ++i;
      }
    }
    return bundle;
  }

  // Adam (Kingma and Ba 2015), one step down the gradient.
  void Descend(std::span<const double> gradient, double rate) {
    ++steps_;
    const double debias_mean = 1.0 - std::pow(kBeta1, steps_), debias_square = 1.0 - std::pow(kBeta2, steps_);
    for (std::size_t i = 0; i < center_.size(); ++i) {
      mean_[i] = kBeta1 * mean_[i] + (1.0 - kBeta1) * gradient[i];
      square_[i] = kBeta2 * square_[i] + (1.0 - kBeta2) * gradient[i] * gradient[i];
      center_[i] -= rate * (mean_[i] / debias_mean) / (std::sqrt(square_[i] / debias_square) + 1e-8);
    }
  }

 private:
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.99;
  PolicyBundle bundle_;
  std::vector<double> scales_;                  // [arrays]
  std::vector<double> center_, mean_, square_;  // [weights]
  int steps_ = 0;
};

std::string LayersText(const std::vector<std::string>& layers) {
  std::string text;
  for (const std::string& layer : layers) text += Join(text.empty() ? ",layers=" : "+", layer);
  return text;
}

// The result of one generation: ln(value) of both policies of each pair, and how the centre does.
struct Generation {
  std::vector<double> difference;  // [pairs] mean over workloads of ln(with noise / with its mirror)
  double ratio;                    // mean over workloads of the centre / of the reference
};

Generation Measure(const PolicySearch& search, const Weights& weights,
                   const std::vector<std::vector<float>>& noise, int generation, ThreadTeam& team) {
  std::vector<Scenario> scenarios;
  for (int i = 0; i < search.workloads; ++i) {
    scenarios.push_back(DrawEpisode(*search.source, search.pieces, search.seed, Split::kTrain,
                                    static_cast<std::uint32_t>(generation), static_cast<std::uint32_t>(i),
                                    search.jobs)
                            .scenario);
  }
  const std::size_t n = scenarios.size(), pairs = noise.size();
  std::vector<double> value((2 * pairs + 2) * n);
  team.Run(static_cast<int>(2 * pairs + 2), [&](int part) {
    const std::size_t k = U(part), pair = k / 2;
    const std::string name = k == 2 * pairs + 1 ? search.reference : "policy";
    const std::unique_ptr<Scheduler> scheduler =
        k == 2 * pairs + 1 ? MakeScheduler(search.reference, AllSchedulers())
        : k == 2 * pairs
            ? MakePolicyScheduler(weights.At({}, 0.0), name, /*sample=*/false)
            : MakePolicyScheduler(weights.At(noise[pair], k % 2 == 0 ? search.step : -search.step), name,
                                  /*sample=*/false);
    for (std::size_t i = 0; i < n; ++i) value[k * n + i] = WindowMean(scenarios[i], *scheduler, name, search);
  });
  Generation result{std::vector<double>(pairs), 0.0};
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = std::log(value[2 * pair * n + i] / value[(2 * pair + 1) * n + i]);
      if (!std::isnan(difference)) result.difference[pair] += difference / static_cast<double>(n);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    result.ratio += value[2 * pairs * n + i] / value[(2 * pairs + 1) * n + i] / static_cast<double>(n);
  }
  return result;
}

// The estimate up to a factor, which Adam does not see: the differences in units of their root mean square.
std::vector<double> Gradient(const std::vector<double>& difference,
                             const std::vector<std::vector<float>>& noise, std::size_t size) {
  double square = 0.0;
  for (double d : difference) square += d * d;
  const double unit = std::sqrt(square / static_cast<double>(difference.size())) + 1e-12;
  std::vector<double> gradient(size, 0.0);
  for (std::size_t pair = 0; pair < noise.size(); ++pair) {
    const double factor = difference[pair] / unit / static_cast<double>(noise.size());
    for (std::size_t i = 0; i < size; ++i) gradient[i] += factor * noise[pair][i];
  }
  return gradient;
}

}  // namespace

std::vector<double> WeightScales(const PolicyBundle& bundle, const std::vector<std::string>& layers) {
  std::vector<std::string> names;
  for (const NamedArray& array : bundle.arrays) names.push_back(LayerName(array));
  for (const std::string& layer : layers) {
    if (std::find(names.begin(), names.end(), layer) == names.end()) {
      throw Error(Join("--layers: expected layers of ", bundle.network, ", found '", layer, "'",
                       DidYouMean(layer, names)));
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
    throw Error(
        Join("--start: expected a network with a layer 'skip', such as pair_scorer(skip=true), found ",
             bundle.network));
  }
  std::fill(skip->values.begin(), skip->values.end(), 0.0F);
  for (const std::string& entry : SplitOutsideParentheses(weights, ',')) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const auto channel = std::find(channels.begin(), channels.end(), name);
    if (equals == std::string::npos || channel == channels.end()) {
      throw Error(Join("--start: expected channels of ", bundle.mdp.encoder, " with weights, such as ",
                       channels.front(), "=1, found '", entry, "'", DidYouMean(name, channels)));
    }
    skip->values[U(channel - channels.begin())] =
        static_cast<float>(ParseNumber(entry.substr(equals + 1), Join("--start: ", name)));
  }
  with.provenance.agent += Join(" then start(", weights, ")");
  return with;
}

SearchedPolicy SearchPolicy(const PolicySearch& search) {
  using Wall = std::chrono::steady_clock;
  const Wall::time_point begin = Wall::now();
  BERTH_CHECK(search.population >= 2 && search.population % 2 == 0, "a population of ", search.population);
  ThreadTeam team(search.threads);
  Weights weights(search.start, search.layers);
  Stream stream(search.seed, Purpose::kExplore);
  int generation = 0;
  const auto stopped = [&] { return search.interrupted && *search.interrupted; };
  while (search.generations == 0 || generation < search.generations) {
    const double elapsed = std::chrono::duration<double>(Wall::now() - begin).count();
    if (stopped() || (search.seconds > 0.0 && elapsed >= search.seconds)) break;
    double share = search.generations > 0 ? static_cast<double>(generation) / search.generations : 0.0;
    if (search.seconds > 0.0) share = std::max(share, elapsed / search.seconds);
    std::vector<std::vector<float>> noise(U(search.population / 2), std::vector<float>(weights.size()));
    for (std::vector<float>& row : noise) {
      for (float& value : row) value = static_cast<float>(stream.Normal());
    }
    const Generation measured = Measure(search, weights, noise, generation, team);
    if (stopped()) break;  // the runs were cut short
    weights.Descend(Gradient(measured.difference, noise, weights.size()),
                    search.learning_rate * (1.0 - 0.9 * share));
    ++generation;
    if (search.on_generation) search.on_generation(generation, measured.ratio);
  }
  SearchedPolicy found{weights.At({}, 0.0), generation};
  AnswerExamples(found.bundle);
  found.bundle.mdp.reward = search.reward;
  Provenance& from = found.bundle.provenance;
  from.agent +=
      Join(" then evolution(step=", search.step, ",learning_rate=", search.learning_rate,
           ",population=", search.population, ",generations=", generation, ",seed=", search.seed,
           LayersText(search.layers), ",workloads=", search.workloads, ",jobs=", search.jobs,
           ",window=", search.window.begin, ":", search.window.end,
           search.reward == "jct" ? "" : Join(",reward=", search.reward),
           search.pieces.end < 0 ? "" : Join(",pieces=", search.pieces.begin, ":", search.pieces.end),
           ",of=", search.source->Describe(), ")");
  return found;
}

}  // namespace berth
