// The flat perceptron (policies/mlp.hpp), actor and critic apart.
#include <algorithm>

#include "agents/nn/fused/fused_dense.hpp"
#include "env/base/check.hpp"
#include "policies/mlp.hpp"

namespace berth {
namespace {

using kernels::Epilogue;

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

struct Trunk {
  std::vector<FusedDense> layers;
  std::vector<AlignedFloats> hidden;  // [layers - 1][rows, units]
};

class FusedMlp final : public FusedNetwork {
 public:
  FusedMlp(const MlpOptions& options, const ObservationLayout& layout, int num_actions,
           std::span<const ParameterView> parameters)
      : activation_(options.activation), inputs_(layout.size()) {
    std::size_t size = 0;
    for (const ParameterView& parameter : parameters) size += parameter.size;
    gradient_.resize(size);
    int widest = 0, floats = inputs_;
    for (const auto& [name, trunk, outputs] :
         {std::tuple("actor", &actor_, num_actions), std::tuple("critic", &critic_, 1)}) {
      int inputs = inputs_;
      for (std::size_t i = 0; i <= options.hidden.size(); ++i) {
        const bool head = i == options.hidden.size();
        const int units = head ? outputs : options.hidden[i];
        trunk->layers.emplace_back(head ? Join(name, "_head") : Join(name, "_", i), parameters,
                                   gradient_.data(), &multiply_adds_, inputs, units);
        inputs = units;
        floats += units;
        if (!head) widest = std::max(widest, units);
      }
      trunk->hidden.resize(options.hidden.size());
    }
    widest_ = widest;
    // What a chunk touches should stay in the second-level cache, beside the weights.
    limit_ = std::max<std::size_t>(24, 160000 / U(floats + num_actions + 2 * widest) / 12 * 12);
  }

  void Refresh() override {
    for (Trunk* trunk : {&actor_, &critic_}) {
      for (std::size_t i = 0; i < trunk->layers.size(); ++i) trunk->layers[i].Refresh(i > 0);
    }
  }

  std::size_t ChunkOf(std::span<const float* const> rows) const override {
    const std::size_t chunks = (rows.size() + limit_ - 1) / limit_;
    return (rows.size() + chunks - 1) / chunks;
  }

  void Forward(std::span<const float* const> rows, float* scores, float* values) override {
    rows_ = static_cast<std::ptrdiff_t>(rows.size());
    Fit(x_, inputs_);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(rows[r], inputs_, x_.data() + r * U(inputs_));
    }
    Forward(actor_, scores);
    if (values != nullptr) Forward(critic_, values);
  }

  void Backward(const float* d_scores, const float* d_values) override {
    Backward(actor_, d_scores);
    if (d_values != nullptr) Backward(critic_, d_values);
  }

 private:
  void Fit(AlignedFloats& memory, int width) const {
    if (memory.size() < U(rows_ * width)) memory.resize(U(rows_ * width));
  }

  void Forward(Trunk& trunk, float* out) {
    const float* x = x_.data();
    for (std::size_t i = 0; i < trunk.hidden.size(); ++i) {
      Fit(trunk.hidden[i], trunk.layers[i].outputs());
      trunk.layers[i].Forward(x, rows_, trunk.hidden[i].data(), EpilogueOf(activation_));
      x = trunk.hidden[i].data();
    }
    trunk.layers.back().Forward(x, rows_, out, Epilogue::kNone);
  }

  void Backward(Trunk& trunk, const float* d_out) {
    Fit(d_, widest_);
    Fit(d_next_, widest_);
    const float* d = d_out;
    for (std::size_t i = trunk.layers.size(); i-- > 0;) {
      FusedDense& layer = trunk.layers[i];
      layer.Backward(i > 0 ? trunk.hidden[i - 1].data() : x_.data(), layer.inputs(), d, layer.outputs(),
                     rows_);
      if (i == 0) break;
      layer.BackwardInput(d, layer.outputs(), rows_, d_next_.data(), layer.inputs(), false,
                          trunk.hidden[i - 1].data(), EpilogueOf(activation_));
      std::swap(d_, d_next_);
      d = d_.data();
    }
  }

  Activation activation_;
  int inputs_, widest_ = 0;
  std::size_t limit_ = 0;  // rows of a chunk
  Trunk actor_, critic_;
  std::ptrdiff_t rows_ = 0;       // of the last Forward
  AlignedFloats x_, d_, d_next_;  // [rows, D], [rows, widest] twice
};

}  // namespace

FusedInfo FusedMlpInfo() {
  return {"mlp",
          [](Params& params, const ObservationLayout& layout, int num_actions,
             std::span<const ParameterView> parameters) -> std::unique_ptr<FusedNetwork> {
            return std::make_unique<FusedMlp>(ReadMlpOptions(params), layout, num_actions, parameters);
          }};
}

}  // namespace berth
