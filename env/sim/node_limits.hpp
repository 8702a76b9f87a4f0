// What the settings of a feature (env/sim/features.hpp) may say of nodes beside what all are asked: may a
// node lack cores or memory for a job though it has idle GPUs? A plan that names devices could not know.
#pragma once

#include <algorithm>

#include "env/sim/features.hpp"

namespace berth {

class LimitsOfNodes {
 public:
  virtual bool LimitsNodes() const = 0;

 protected:
  ~LimitsOfNodes() = default;
};

inline bool LimitsNodes(const Features& features) {
  const auto on = features.on();
  return std::any_of(on.begin(), on.end(), [](const Features::On& feature) {
    const auto* limits = dynamic_cast<const LimitsOfNodes*>(feature.settings.get());
    return limits != nullptr && limits->LimitsNodes();
  });
}

}  // namespace berth
