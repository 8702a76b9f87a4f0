// Flat multi-layer perceptron over the whole observation row, actor and critic apart (as Stable-Baselines3):
// for comparison, and for environments without jobs and types. Bound to the sizes it was trained on.
//
//   layers "actor_0", ..., "actor_head" [A]; "critic_0", ..., "critic_head" [1]
#pragma once

#include <span>
#include <vector>

#include "env/base/spec.hpp"
#include "policies/dense.hpp"

namespace berth {

struct MlpOptions {
  std::vector<int> hidden;  // units, input to output
  Activation activation = Activation::kTanh;
};
MlpOptions ReadMlpOptions(Params& params);

}  // namespace berth
