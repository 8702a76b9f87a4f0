// Means and maxima over the rows of a state.
#include <algorithm>

#include "agents/nn/fused/fused_pass.hpp"
#include "agents/nn/kernels/gemm.hpp"

namespace berth {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

class MeanOfRows final : public FusedStep {
 public:
  explicit MeanOfRows(const NetworkStep& step) : input_(step.inputs[0]), output_(step.output) {}

  void Forward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, n = Rows(pass);
    const float* x = pass.At(input_).data;
    float* mean = pass.Out(output_);
    for (std::ptrdiff_t s = 0; s < pass.states; ++s, mean += h) {
      std::fill_n(mean, h, 0.0F);
      kernels::AddColumnSums(x + s * n * h, h, n, h, mean);
      for (std::ptrdiff_t k = 0; k < h; ++k) mean[k] /= static_cast<float>(n);
    }
  }

  void Backward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, n = Rows(pass);
    const float* d_mean = pass.GradientBefore(output_);
    float* dx = pass.GradientOf(input_);
    for (std::ptrdiff_t s = 0; s < pass.states; ++s, d_mean += h) {
      for (std::ptrdiff_t t = 0; t < n; ++t) {
        for (std::ptrdiff_t k = 0; k < h; ++k) *dx++ = d_mean[k] / static_cast<float>(n);
      }
    }
    pass.Given(input_);
  }

 private:
  // Of a state.
  std::ptrdiff_t Rows(const FusedPass& pass) const {
    return pass.At(input_).rows == RowOf::kType ? pass.types : pass.points;
  }

  ValueId input_, output_;
};

}  // namespace

std::unique_ptr<FusedStep> FusedMeanOfRows(const NetworkStep& step) {
  return std::make_unique<MeanOfRows>(step);
}

void FusedPool::Add(const NetworkStep& step) {
  if (step.kind == NetworkStep::Kind::kMean) {
    mean_ = step.output;
  } else {
    most_ = step.output;
    floor_ = Floor(step.activation);
  }
}

void FusedPool::Forward(FusedPass& pass) {
  const std::ptrdiff_t h = pass.At(input_).width;
  FusedPass::Fit(unused_, h);
  FusedPass::Fit(spare_, h);
  float* mean = mean_ >= 0 ? pass.Out(mean_) : nullptr;
  float* most = most_ >= 0 ? pass.Out(most_) : nullptr;
  const float* x = pass.At(input_).data;
  for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
    kernels::Kernels().pool(pass.Shape(s, h), x + pass.begin[U(s)] * h, floor_,
                            mean != nullptr ? mean + s * h : unused_.data(),
                            most != nullptr ? most + s * h : spare_.data());
  }
}

// Jobs that share the maximum share its gradient, as in LibTorch's amax.
void FusedPool::Backward(FusedPass& pass) {
  const std::ptrdiff_t h = pass.At(input_).width;
  std::fill(unused_.begin(), unused_.end(), 0.0F);
  const float* d_mean = mean_ >= 0 ? pass.GradientBefore(mean_) : nullptr;
  const float* d_most = most_ >= 0 ? pass.GradientBefore(most_) : nullptr;
  const float* x = pass.At(input_).data;
  float* dx = pass.GradientOf(input_);
  for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
    kernels::Kernels().unpool(pass.Shape(s, h), x + pass.begin[U(s)] * h,
                              most_ >= 0 ? pass.At(most_).data + s * h : spare_.data(),
                              d_mean != nullptr ? d_mean + s * h : unused_.data(),
                              d_most != nullptr ? d_most + s * h : unused_.data(), dx + pass.begin[U(s)] * h);
  }
  pass.Given(input_);
}

}  // namespace berth
