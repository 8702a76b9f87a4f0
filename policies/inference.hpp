// Networks without LibTorch: what a frozen policy runs on. Same bits on every call, thread and cache size; no
// heap allocation after the first call of a size.
#pragma once

#include <memory>
#include <span>

#include "env/gym/observation.hpp"
#include "policies/bundle.hpp"

namespace berth {

// Thread rule: one thread at a time (it owns scratch memory).
class FrozenNetwork {
 public:
  virtual ~FrozenNetwork() = default;
  // observation [layout.size()], scores [A] unmasked, A = layout.q * layout.g (+ 1 with done); gives back the
  // value. `layout` has the bundle's channel counts, and its Q and G too unless the architecture takes any
  // size. Scores of rows without a job are 0.
  virtual float Evaluate(std::span<const float> observation, const ObservationLayout& layout,
                         std::span<float> scores) = 0;
};

// Throws Error where the arrays are not those of the architecture.
std::unique_ptr<FrozenNetwork> Freeze(const PolicyBundle& bundle);

}  // namespace berth
