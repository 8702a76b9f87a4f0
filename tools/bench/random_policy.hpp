// A policy that nobody trained, for measuring and testing what runs policies. In a header, so that tests of
// the learners, which do not link the tools, have the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "policies/architecture.hpp"
#include "policies/bundle.hpp"

namespace berth::bench {

// Gaussian weights of the usual size; semantics redecide where there is a `done`, else commit. No examples.
inline PolicyBundle RandomPolicy(const std::string& network, const ObservationLayout& layout, int num_actions,
                                 Stream& stream) {
  PolicyBundle bundle;
  bundle.network = ResolveArchitecture(network);
  bundle.layout = layout;
  bundle.num_actions = num_actions;
  if (!bundle.has_done()) bundle.mdp.semantics = Semantics::kCommit;
  bundle.mdp.preemptive = bundle.has_done();
  for (int g = 0; g < layout.g; ++g) bundle.gpu_types.push_back(Join("type", g));
  for (const LayerSpec& layer : LayersOf(network, layout, num_actions)) {
    NamedArray weight{layer.name + ".weight", {layer.outputs, layer.inputs}, {}};
    NamedArray bias{layer.name + ".bias", {layer.outputs}, {}};
    const double scale = 1.0 / std::max(1.0, std::sqrt(static_cast<double>(layer.inputs)));
    for (int i = 0; i < layer.outputs * layer.inputs; ++i) {
      weight.values.push_back(static_cast<float>(scale * stream.Normal()));
    }
    for (int i = 0; i < layer.outputs; ++i) bias.values.push_back(static_cast<float>(0.1 * stream.Normal()));
    bundle.arrays.push_back(std::move(weight));
    bundle.arrays.push_back(std::move(bias));
  }
  return bundle;
}

}  // namespace berth::bench
