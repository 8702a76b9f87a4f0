// Normalised rows, points and attention as LibTorch's operations.
#include <cmath>

#include "policies/learn/steps.hpp"

namespace berth {
namespace {

// [B, n, width] to [B, heads, n, width / heads]
torch::Tensor Heads(const torch::Tensor& x, int heads) {
  return x.unflatten(2, {heads, -1}).transpose(1, 2);
}

}  // namespace

torch::Tensor TorchNormalize(TorchRun& run, const NetworkStep& step) {
  const torch::Tensor x = run.At(step.inputs[0]).unflatten(2, {step.groups, -1});
  return torch::layer_norm(x, {x.size(3)}, {}, {}, kNormEpsilon).flatten(2);
}

torch::Tensor TorchPoints(TorchRun& run, const NetworkStep& step) {
  const torch::Tensor& x = run.At(step.inputs[0]);
  return x.reshape({x.size(0), step.groups, run.net.points(), -1}).transpose(1, 2).flatten(2);
}

torch::Tensor TorchAttend(TorchRun& run, const NetworkStep& step) {
  const int heads = step.groups;
  const torch::Tensor q = Heads(run.At(step.inputs[0]), heads), k = Heads(run.At(step.inputs[1]), heads),
                      v = Heads(run.At(step.inputs[2]), heads);
  torch::Tensor scores = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (run.About(step.inputs[1]).rows != RowOf::kJob) {
    return torch::softmax(scores, -1).matmul(v).transpose(1, 2).flatten(2);
  }
  const torch::Tensor present = run.present.transpose(1, 2).unsqueeze(1);  // [B, 1, 1, Q]
  // Times `present` once more, where nobody is.
  const torch::Tensor weights = torch::softmax(scores + (present - 1.0) * kAbsentKey, -1) * present;
  return weights.matmul(v).transpose(1, 2).flatten(2);
}

}  // namespace berth
