// Gates: s x + (1 - s) y with s the logistic function of what the gate reads.
#include <cmath>

#include "agents/nn/fused/fused_pass.hpp"

namespace berth {
namespace {

class GateStep final : public FusedStep {
 public:
  explicit GateStep(const NetworkStep& step)
      : gates_(step.inputs[0]),
        x_(step.inputs[1]),
        y_(step.inputs.size() > 2 ? step.inputs[2] : -1),
        output_(step.output) {}

  void Forward(FusedPass& pass) override {
    float* out = pass.Out(output_);
    const std::size_t size = Size(pass);
    const float *gates = pass.At(gates_).data, *x = pass.At(x_).data,
                *y = y_ >= 0 ? pass.At(y_).data : nullptr;
    open_.resize(size);
    for (std::size_t i = 0; i < size; ++i) open_[i] = 0.5F + 0.5F * std::tanh(0.5F * gates[i]);
    for (std::size_t i = 0; i < size; ++i) out[i] = open_[i] * x[i];
    for (std::size_t i = 0; y != nullptr && i < size; ++i) out[i] += (1.0F - open_[i]) * y[i];
  }

  void Backward(FusedPass& pass) override {
    const float* d = pass.GradientBefore(output_);
    const std::size_t size = Size(pass);
    const float *x = pass.At(x_).data, *y = y_ >= 0 ? pass.At(y_).data : nullptr;
    const auto give = [&](ValueId to, const auto& slope) {
      float* gradient = pass.GradientOf(to);
      for (std::size_t i = 0; i < size; ++i) gradient[i] = d[i] * slope(i);
      pass.Given(to);
    };
    give(gates_,
         [&](std::size_t i) { return (x[i] - (y != nullptr ? y[i] : 0.0F)) * open_[i] * (1.0F - open_[i]); });
    give(x_, [&](std::size_t i) { return open_[i]; });
    if (y_ >= 0) give(y_, [&](std::size_t i) { return 1.0F - open_[i]; });
  }

 private:
  std::size_t Size(const FusedPass& pass) const {
    return static_cast<std::size_t>(pass.states * pass.At(output_).width);
  }

  ValueId gates_, x_, y_, output_;
  std::vector<float> open_;  // of the last Forward
};

}  // namespace

std::unique_ptr<FusedStep> FusedGate(const NetworkStep& step) {
  return std::make_unique<GateStep>(step);
}

}  // namespace berth
