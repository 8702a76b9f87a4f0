// Layers, a part an input. Where a layer over pairs reads values with other rows too, each part is computed
// once a job, pair, type or state.
#include <algorithm>

#include "agents/nn/fused/fused_pass.hpp"

namespace berth {
namespace {

using kernels::Epilogue;

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

// The layer as one part, for its inputs side by side.
FusedDense WholeOf(const LayerViews& views, NetworkStep step) {
  step.inputs.resize(1);
  return views.Parts(step)[0].dense;
}

class LayerStep final : public FusedStep {
 public:
  LayerStep(const LayerViews& views, const NetworkStep& step)
      : parts_(views.Parts(step)),
        rows_(views.net().values()[U(step.output)].rows),
        output_(step.output),
        onto_(step.onto),
        activation_(EpilogueOf(step.activation)) {
    for (const FusedPart& part : parts_) {
      if (part.rows == rows_) last_ = &part;
      spread_ = spread_ || part.rows != rows_;
    }
    if (!spread_ && parts_.size() > 1) whole_ = WholeOf(views, step);
  }

  void Refresh() override {
    for (FusedPart& part : parts_) part.dense.Refresh(part.computed);
    if (whole_.inputs() > 0) whole_.Refresh(false);
  }

  void Forward(FusedPass& pass) override {
    float* y = pass.Out(output_);
    if (onto_ >= 0) return ForwardOnto(pass, y);
    if (parts_.size() == 1) return parts_[0].Forward(pass, y, false, activation_);
    if (!spread_) return ForwardSideBySide(pass, y);
    Spread(pass, y);
    AddParts(pass, rows_, y);
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    if (onto_ >= 0) {
      std::copy_n(dy, pass.Count(rows_) * pass.At(output_).width, pass.GradientOf(onto_));
      pass.Given(onto_);
    }
    if (whole_.inputs() > 0) return BackwardSideBySide(pass, dy);
    BackwardParts(pass, rows_, dy);
    if (spread_) Fold(pass, dy);
  }

 private:
  // One part, onto a value of the same rows.
  void ForwardOnto(FusedPass& pass, float* y) {
    const std::ptrdiff_t h = pass.At(output_).width;
    const float *onto = pass.At(onto_).data, *bias = parts_[0].dense.bias();
    for (std::ptrdiff_t r = 0; r < pass.Count(rows_); ++r) {
      for (std::ptrdiff_t k = 0; k < h; ++k) y[r * h + k] = onto[r * h + k] + bias[k];
    }
    parts_[0].Forward(pass, y, true, activation_);
  }

  void ForwardSideBySide(FusedPass& pass, float* y) {
    const std::ptrdiff_t rows = pass.Count(rows_), width = whole_.inputs();
    FusedPass::Fit(side_by_side_, rows * width);
    float* to = side_by_side_.data();
    for (const FusedPart& part : parts_) {
      const float* from = pass.At(part.value).data;
      const std::ptrdiff_t count = part.dense.inputs();
      for (std::ptrdiff_t r = 0; r < rows; ++r) std::copy_n(from + r * count, count, to + r * width);
      to += count;
    }
    whole_.Forward(side_by_side_.data(), rows, y, activation_);
  }

  void BackwardSideBySide(FusedPass& pass, const float* dy) {
    const std::ptrdiff_t rows = pass.Count(rows_), outputs = whole_.outputs();
    whole_.Backward(side_by_side_.data(), whole_.inputs(), dy, outputs, rows);
    for (FusedPart& part : parts_) {
      if (!part.computed) continue;
      float* dx = pass.GradientOf(part.value);
      part.dense.BackwardInput(dy, outputs, rows, dx, part.dense.inputs());
      pass.Given(part.value);
    }
  }

  // What a pair's job, type and state add to its row.
  void Spread(FusedPass& pass, float* y) {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types, b = pass.states;
    FusedPass::Fit(of_job_, pass.jobs * h);
    FusedPass::Fit(of_type_, b * g * h);
    FusedPass::Fit(of_state_, b * h);
    if (!AddParts(pass, RowOf::kJob, of_job_.data(), false)) {
      std::fill_n(of_job_.data(), pass.jobs * h, 0.0F);
    }
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      std::copy_n(parts_[0].dense.bias(), h, of_state_.data() + s * h);
    }
    AddParts(pass, RowOf::kState, of_state_.data());
    for (std::ptrdiff_t k = 0; k < b * g; ++k) {
      std::copy_n(of_state_.data() + k / g * h, h, of_type_.data() + k * h);
    }
    AddParts(pass, RowOf::kType, of_type_.data());
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      kernels::Kernels().spread(pass.Shape(s, h), of_job_.data() + pass.begin[U(s)] * h,
                                of_type_.data() + s * g * h, y + pass.begin[U(s)] * g * h);
    }
  }

  // Sums over the types of a job, the jobs of a state and type, and all pairs of a state.
  void Fold(FusedPass& pass, const float* dy) {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types, b = pass.states;
    std::fill_n(of_state_.data(), b * h, 0.0F);
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      kernels::Kernels().fold(pass.Shape(s, h), dy + pass.begin[U(s)] * g * h,
                              of_job_.data() + pass.begin[U(s)] * h, of_type_.data() + s * g * h);
      kernels::AddColumnSums(of_type_.data() + s * g * h, h, g, h, of_state_.data() + s * h);
    }
    BackwardParts(pass, RowOf::kJob, of_job_.data());
    BackwardParts(pass, RowOf::kType, of_type_.data());
    BackwardParts(pass, RowOf::kState, of_state_.data());
    parts_[0].dense.BackwardBias(of_state_.data(), h, b);
  }

  // To y, or with `add` false in its place; false where nothing was read.
  bool AddParts(FusedPass& pass, RowOf rows, float* y, bool add = true) {
    bool any = false;
    for (FusedPart& part : parts_) {
      if (part.rows != rows) continue;
      part.Forward(pass, y, add || any, &part == last_ ? activation_ : Epilogue::kNone);
      any = true;
    }
    return any;
  }
  void BackwardParts(FusedPass& pass, RowOf rows, const float* dy) {
    for (FusedPart& part : parts_) {
      if (part.rows == rows) part.Backward(pass, dy);
    }
  }

  std::vector<FusedPart> parts_;
  RowOf rows_;           // of the output
  bool spread_ = false;  // some inputs have rows of other kinds
  const FusedPart* last_ = nullptr;
  ValueId output_, onto_;
  Epilogue activation_;
  FusedDense whole_;            // where several inputs stand side by side, in rows of one kind
  AlignedFloats side_by_side_;  // [rows, inputs]
  // What they add to a row of pairs, then its gradient: [n, H], [b, G, H], [b, H]
  AlignedFloats of_job_, of_type_, of_state_;
};

// One number a pair, of its job, itself and its type, onto another value where one is given.
class ColumnStep final : public FusedStep {
 public:
  ColumnStep(const LayerViews& views, const NetworkStep& step)
      : parts_(views.Parts(step)), output_(step.output), onto_(step.onto) {}

  void Refresh() override {
    for (FusedPart& part : parts_) part.dense.Refresh(part.computed);
  }

  void Forward(FusedPass& pass) override {
    const std::ptrdiff_t g = pass.types;
    float* y = pass.Out(output_);
    const float* of_jobs = Column(pass, RowOf::kJob, of_jobs_);
    const float* of_pairs = Column(pass, RowOf::kPair, of_pairs_);
    const float* of_types = Column(pass, RowOf::kType, of_types_);
    const float* onto = onto_ >= 0 ? pass.At(onto_).data : nullptr;
    const float bias = *parts_[0].dense.bias();
    EachPair(pass, [&](std::ptrdiff_t s, std::ptrdiff_t job, std::ptrdiff_t t) {
      const std::ptrdiff_t pair = job * g + t;
      const float x = of_pairs[pair] + ((of_jobs[job] + bias) + of_types[s * g + t]);
      y[pair] = onto != nullptr ? onto[pair] + x : x;
    });
  }

  void Backward(FusedPass& pass) override {
    const std::ptrdiff_t g = pass.types;
    const float* dy = pass.GradientBefore(output_);
    std::fill_n(of_jobs_.data(), pass.jobs, 0.0F);
    std::fill_n(of_types_.data(), pass.states * g, 0.0F);
    EachPair(pass, [&](std::ptrdiff_t s, std::ptrdiff_t job, std::ptrdiff_t t) {
      of_jobs_[U(job)] += dy[job * g + t];
      of_types_[U(s * g + t)] += dy[job * g + t];
    });
    for (FusedPart& part : parts_) {
      part.Backward(pass, part.rows == RowOf::kJob    ? of_jobs_.data()
                          : part.rows == RowOf::kPair ? dy
                                                      : of_types_.data());
    }
    parts_[0].dense.BackwardBias(of_jobs_.data(), 1, pass.jobs);
    if (onto_ < 0) return;
    std::copy_n(dy, pass.jobs * g, pass.GradientOf(onto_));
    pass.Given(onto_);
  }

 private:
  template <class F>
  static void EachPair(const FusedPass& pass, const F& f) {
    for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
      for (std::ptrdiff_t job = pass.begin[U(s)]; job < pass.begin[U(s) + 1]; ++job) {
        for (std::ptrdiff_t t = 0; t < pass.types; ++t) f(s, job, t);
      }
    }
  }

  const float* Column(FusedPass& pass, RowOf rows, AlignedFloats& column) {
    FusedPass::Fit(column, pass.Count(rows));
    bool add = false;
    for (FusedPart& part : parts_) {
      if (part.rows != rows) continue;
      part.Forward(pass, column.data(), add);
      add = true;
    }
    if (!add) std::fill_n(column.data(), pass.Count(rows), 0.0F);
    return column.data();
  }

  std::vector<FusedPart> parts_;
  ValueId output_, onto_;
  AlignedFloats of_jobs_, of_pairs_, of_types_;  // [n], [n, G], [b, G]; then gradients of jobs and types
};

}  // namespace

std::unique_ptr<FusedStep> FusedLayer(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<LayerStep>(views, step);
}

std::unique_ptr<FusedStep> FusedColumn(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<ColumnStep>(views, step);
}

}  // namespace berth
