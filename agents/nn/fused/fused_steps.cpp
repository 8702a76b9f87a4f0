// Layers over rows of one kind, and pooling.
#include <algorithm>

#include "agents/nn/fused/fused_pass.hpp"
#include "agents/nn/kernels/gemm.hpp"

namespace berth {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

// Over one value: gradients go straight to it. Over several: side by side in a row of their own.
class RowsStep final : public FusedStep {
 public:
  RowsStep(const LayerViews& views, const NetworkStep& step)
      : whole_{views.Whole(step), step.inputs[0], views.net().values()[U(step.output)].rows,
               step.inputs[0] >= NetworkDescription::kInputs},
        output_(step.output),
        activation_(EpilogueOf(step.activation)) {
    if (step.inputs.size() == 1) return;
    inputs_ = step.inputs;
    // Gradients of the inputs from the first computed one on.
    int first = 0;
    for (const Value input : inputs_) {
      if (input >= NetworkDescription::kInputs) break;
      first += views.net().values()[U(input)].width;
    }
    first_ = first;
    if (first < whole_.dense.inputs()) computed_ = views.Make(step, first, whole_.dense.inputs() - first);
  }

  void Refresh() override {
    whole_.dense.Refresh(inputs_.empty() && whole_.computed);
    if (computed_.inputs() > 0) computed_.Refresh(true);
  }

  void Forward(FusedPass& pass) override {
    float* y = pass.Out(output_);
    if (inputs_.empty()) return whole_.Forward(pass, y, false, activation_);
    const std::ptrdiff_t rows = pass.Count(whole_.rows), width = whole_.dense.inputs();
    FusedPass::Fit(side_by_side_, rows * width);
    std::ptrdiff_t first = 0;
    for (const Value input : inputs_) {
      const FusedValue& x = pass.At(input);
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        std::copy_n(x.data + r * x.width, x.width, side_by_side_.data() + r * width + first);
      }
      first += x.width;
    }
    whole_.dense.Forward(side_by_side_.data(), rows, y, activation_);
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    if (inputs_.empty()) return whole_.Backward(pass, dy);
    const std::ptrdiff_t rows = pass.Count(whole_.rows), outputs = whole_.dense.outputs();
    whole_.dense.Backward(side_by_side_.data(), whole_.dense.inputs(), dy, outputs, rows);
    if (computed_.inputs() == 0) return;
    const std::ptrdiff_t width = computed_.inputs();
    FusedPass::Fit(d_side_by_side_, rows * width);
    computed_.BackwardInput(dy, outputs, rows, d_side_by_side_.data(), width);
    std::ptrdiff_t first = -first_;
    for (const Value input : inputs_) {
      const std::ptrdiff_t of = pass.At(input).width;
      if (pass.At(input).computed) {
        float* dx = pass.GradientOf(input);
        for (std::ptrdiff_t r = 0; r < rows; ++r) {
          std::copy_n(d_side_by_side_.data() + r * width + first, of, dx + r * of);
        }
        pass.Given(input);
      }
      first += of;
    }
  }

 private:
  FusedPart whole_;            // over one value
  std::vector<Value> inputs_;  // where they are several
  std::ptrdiff_t first_ = 0;   // column of the first computed one
  FusedDense computed_;        // the columns from there on
  Value output_;
  kernels::Epilogue activation_;
  AlignedFloats side_by_side_, d_side_by_side_;  // [rows, inputs], [rows, inputs - first_]
};

class MeanOfTypes final : public FusedStep {
 public:
  explicit MeanOfTypes(const NetworkStep& step) : input_(step.inputs[0]), output_(step.output) {}

  void Forward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types;
    const float* x = pass.At(input_).data;
    float* mean = pass.Out(output_);
    for (std::ptrdiff_t s = 0; s < pass.states; ++s, mean += h) {
      std::fill_n(mean, h, 0.0F);
      kernels::AddColumnSums(x + s * g * h, h, g, h, mean);
      for (std::ptrdiff_t k = 0; k < h; ++k) mean[k] /= static_cast<float>(g);
    }
  }

  void Backward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types;
    const float* d_mean = pass.GradientBefore(output_);
    float* dx = pass.GradientOf(input_);
    for (std::ptrdiff_t s = 0; s < pass.states; ++s, d_mean += h) {
      for (std::ptrdiff_t t = 0; t < g; ++t) {
        for (std::ptrdiff_t k = 0; k < h; ++k) *dx++ = d_mean[k] / static_cast<float>(g);
      }
    }
    pass.Given(input_);
  }

 private:
  Value input_, output_;
};

}  // namespace

std::unique_ptr<FusedStep> FusedRows(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<RowsStep>(views, step);
}

std::unique_ptr<FusedStep> FusedMeanOfTypes(const NetworkStep& step) {
  return std::make_unique<MeanOfTypes>(step);
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
