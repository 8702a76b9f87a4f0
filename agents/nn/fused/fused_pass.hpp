// What the steps of a fused network share: the rows of the chunk under way, the values that were computed and
// the gradients that came back. A step is made once from its description and then runs forward and backward.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "agents/nn/fused/fused_dense.hpp"
#include "policies/networks/description.hpp"

namespace berth {

struct FusedValue {
  RowOf rows = RowOf::kState;
  std::ptrdiff_t width = 0;
  Activation activation = Activation::kNone;  // applied last
  bool computed = false;
  // Its one reader is a layer over it alone, whose product back applies the activation's derivative.
  bool gated = false;
  AlignedFloats memory, gradient;  // [rows, width]
  float* data = nullptr;           // memory's, or the caller's
  bool has_gradient = false;       // somebody gave it some already
};

struct FusedPass {
  // Of the chunk: its states, the present jobs of all of them; the types and points of one.
  std::ptrdiff_t states = 0, jobs = 0, types = 0, points = 0;
  std::vector<std::ptrdiff_t> begin;  // [states + 1] the first job of each state
  std::vector<int> queue;             // [jobs] which row of its state's it is, where rows name others
  std::vector<FusedValue> values;
  AlignedFloats scratch;

  FusedValue& At(ValueId value) { return values[static_cast<std::size_t>(value)]; }
  const FusedValue& At(ValueId value) const { return values[static_cast<std::size_t>(value)]; }
  std::ptrdiff_t Count(RowOf rows) const;
  // The first row of a state; of state `states` the number of all rows.
  std::ptrdiff_t First(RowOf rows, std::ptrdiff_t state) const;
  // Of the jobs of a state, for rows of `units` floats.
  kernels::PairShape Shape(std::ptrdiff_t state, std::ptrdiff_t units) const;
  // Room for so many floats, and a few more that a product may read.
  static void Fit(AlignedFloats& memory, std::ptrdiff_t size);
  // Room for the value's rows.
  float* Out(ValueId value);
  // The gradient at what the step that made the value summed up.
  const float* GradientBefore(ValueId value);
  // Where a gradient of the value is written; then Given, which adds it to what others gave.
  float* GradientOf(ValueId value);
  void Given(ValueId value);
};

class FusedStep {
 public:
  virtual ~FusedStep() = default;
  virtual void Refresh() {}  // the parameters changed
  virtual void Forward(FusedPass& pass) = 0;
  virtual void Backward(FusedPass& pass) = 0;
};

// A layer's part that reads one value.
struct FusedPart {
  FusedDense dense;
  ValueId value;
  RowOf rows;
  bool computed;  // it wants a gradient

  void Forward(FusedPass& pass, float* y, bool add, kernels::Epilogue epilogue = kernels::Epilogue::kNone);
  // Gradients of the weights, and of the value where it wants one, out of dy [rows, outputs].
  void Backward(FusedPass& pass, const float* dy);
};

// Where a layer's parameters and gradients are.
class LayerViews {
 public:
  LayerViews(const NetworkDescription& net, std::span<const ParameterView> parameters, float* gradient,
             double* multiply_adds)
      : net_(net), parameters_(parameters), gradient_(gradient), multiply_adds_(multiply_adds) {}
  const NetworkDescription& net() const { return net_; }
  double* multiply_adds() const { return multiply_adds_; }
  // A part an input; an only one has the bias.
  std::vector<FusedPart> Parts(const NetworkStep& step) const;

 private:
  const NetworkDescription& net_;
  std::span<const ParameterView> parameters_;
  float* gradient_;
  double* multiply_adds_;
};

std::unique_ptr<FusedStep> FusedLayer(const LayerViews& views, const NetworkStep& step);
// A layer with one output over pairs that reads nothing of the state.
std::unique_ptr<FusedStep> FusedColumn(const LayerViews& views, const NetworkStep& step);
std::unique_ptr<FusedStep> FusedMeanOfRows(const NetworkStep& step);  // of types or points
std::unique_ptr<FusedStep> FusedNormalize(const NetworkStep& step);
std::unique_ptr<FusedStep> FusedPoints(const NetworkStep& step);
std::unique_ptr<FusedStep> FusedGate(const NetworkStep& step);
std::unique_ptr<FusedStep> FusedAttend(const LayerViews& views, const NetworkStep& step);
std::unique_ptr<FusedStep> FusedCollect(const ObservationLayout& layout, const NetworkStep& step);

// Mean and maximum of the same jobs in one walk; a state's network may want either or both.
class FusedPool final : public FusedStep {
 public:
  explicit FusedPool(ValueId input) : input_(input) {}
  ValueId input() const { return input_; }
  void Add(const NetworkStep& step);
  void Forward(FusedPass& pass) override;
  void Backward(FusedPass& pass) override;

 private:
  ValueId input_, mean_ = -1, most_ = -1;
  float floor_ = 0.0F;
  AlignedFloats unused_, spare_;  // [units] where the mean or the maximum is not wanted
};

}  // namespace berth
