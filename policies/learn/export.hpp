// From a trained LibTorch network to a PolicyBundle, proven on the spot.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policies/bundle.hpp"
#include "policies/learn/networks.hpp"

namespace berth {

// What a bundle says beside the weights.
struct BundleFacts {
  std::string network;  // spec that made the network
  ObservationLayout layout;
  int num_actions = 0;
  MdpSpec mdp;
  std::vector<std::string> gpu_types;
  Provenance provenance;
};

// `observation` [n, rows of the network] and `mask` [n, num_actions] are n >= 1 example rows (16 are usual)
// that the bundle will carry with the network's scores. Compares LibTorch with the torch-free network on
// them: `max_difference`, where given, becomes the greatest difference relative to max(1, |score|); Error
// over kBundleTolerance.
PolicyBundle MakeBundle(Network& network, const BundleFacts& facts, std::span<const float> observation,
                        std::span<const std::uint8_t> mask, double* max_difference = nullptr);

}  // namespace berth
