// Observations and bundles out of a stream, for tests of frozen policies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "policies/bundle.hpp"
#include "policies/inference.hpp"
#include "tools/bench/random_policy.hpp"

namespace berth::test {

// One row [layout.size()]: uniform features in [-1, 1); the rows at and after `present` are absent (all 0).
inline std::vector<float> RandomObservation(const ObservationLayout& layout, int present, Stream& stream) {
  std::vector<float> row(static_cast<std::size_t>(layout.size()));
  for (float& x : row) x = static_cast<float>(stream.Uniform(-1.0, 1.0));
  for (int q = 0; q < layout.q; ++q) {
    const auto job = row.begin() + layout.jobs_offset() + q * layout.job_channels;
    const auto pair = row.begin() + layout.pairs_offset() + q * layout.g * layout.pair_channels;
    if (q < present) {
      *job = 1.0F;
      continue;
    }
    std::fill(job, job + layout.job_channels, 0.0F);
    std::fill(pair, pair + layout.g * layout.pair_channels, 0.0F);
  }
  return row;
}

// 16 examples with 0 to Q present jobs, without scores; actions of absent rows are illegal.
inline BundleExamples RandomExamples(const ObservationLayout& layout, int num_actions, Stream& stream) {
  BundleExamples examples;
  examples.count = 16;
  for (int i = 0; i < examples.count; ++i) {
    const int present = static_cast<int>(stream.Below(static_cast<std::uint32_t>(layout.q) + 1));
    const std::vector<float> row = RandomObservation(layout, present, stream);
    examples.observation.insert(examples.observation.end(), row.begin(), row.end());
    for (int a = 0; a < num_actions; ++a) {
      const bool real = layout.q == 0 || a < present * layout.g || a == layout.q * layout.g;
      examples.mask.push_back(real ? 1 : 0);
    }
  }
  return examples;
}

// A bundle with Gaussian weights of the usual size, whose examples are its own answers.
inline PolicyBundle RandomBundle(const std::string& network, const ObservationLayout& layout, int num_actions,
                                 std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  PolicyBundle bundle = bench::RandomPolicy(network, layout, num_actions, stream);
  bundle.provenance = {"ppo(lr=0.0003)", "steps=1000", "toy", "0123abc", 1000, 7};
  bundle.examples = RandomExamples(layout, num_actions, stream);
  const auto network_of = Freeze(bundle);
  const auto size = static_cast<std::size_t>(layout.size()), actions = static_cast<std::size_t>(num_actions);
  bundle.examples.scores.resize(16 * actions);
  std::vector<float> rows, state(static_cast<std::size_t>(network_of->memory()));
  for (std::size_t i = 0; i < 16; ++i) {
    const auto row = std::span<const float>(bundle.examples.observation).subspan(i * size, size);
    for (float& x : state) x = static_cast<float>(stream.Uniform(-1.0, 1.0));
    bundle.examples.value.push_back(network_of->Evaluate(
        row, layout, std::span<float>(bundle.examples.scores).subspan(i * actions, actions), state));
    rows.insert(rows.end(), row.begin(), row.end());
    rows.insert(rows.end(), state.begin(), state.end());
  }
  bundle.examples.observation = rows;
  return bundle;
}

}  // namespace berth::test
