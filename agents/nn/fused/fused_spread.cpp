// Layers over pairs that read values with other rows too: computed in parts, each once a job, pair, type or
// state.
#include <algorithm>

#include "agents/nn/fused/fused_pass.hpp"

namespace berth {
namespace {

using kernels::Epilogue;

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

class SpreadStep final : public FusedStep {
 public:
  SpreadStep(const LayerViews& views, const NetworkStep& step)
      : parts_(views.Parts(step)), output_(step.output), activation_(EpilogueOf(step.activation)) {
    for (const FusedPart& part : parts_) {
      if (part.rows == Rows::kPair) last_ = &part;
    }
  }

  void Refresh() override {
    for (FusedPart& part : parts_) part.dense.Refresh(part.computed);
  }

  void Forward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types, b = pass.states;
    FusedPass::Fit(of_job_, pass.jobs * h);
    FusedPass::Fit(of_type_, b * g * h);
    FusedPass::Fit(of_state_, b * h);
    float* y = pass.Out(output_);
    Sum(pass, Rows::kJob, of_job_.data());
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      std::copy_n(parts_[0].dense.bias(), h, of_state_.data() + s * h);
    }
    AddParts(pass, Rows::kState, of_state_.data());
    for (std::ptrdiff_t k = 0; k < b * g; ++k) {
      std::copy_n(of_state_.data() + k / g * h, h, of_type_.data() + k * h);
    }
    AddParts(pass, Rows::kType, of_type_.data());
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      kernels::Kernels().spread(pass.Shape(s, h), of_job_.data() + pass.begin[U(s)] * h,
                                of_type_.data() + s * g * h, y + pass.begin[U(s)] * g * h);
    }
    AddParts(pass, Rows::kPair, y);
  }

  void Backward(FusedPass& pass) override {
    const std::ptrdiff_t h = pass.At(output_).width, g = pass.types, b = pass.states;
    const float* dy = pass.GradientBefore(output_);
    BackwardParts(pass, Rows::kPair, dy);
    // Sums over the types of a job, the jobs of a state and type, and all pairs of a state.
    std::fill_n(of_state_.data(), b * h, 0.0F);
    for (std::ptrdiff_t s = 0; s < b; ++s) {
      kernels::Kernels().fold(pass.Shape(s, h), dy + pass.begin[U(s)] * g * h,
                              of_job_.data() + pass.begin[U(s)] * h, of_type_.data() + s * g * h);
      kernels::AddColumnSums(of_type_.data() + s * g * h, h, g, h, of_state_.data() + s * h);
    }
    BackwardParts(pass, Rows::kJob, of_job_.data());
    BackwardParts(pass, Rows::kType, of_type_.data());
    BackwardParts(pass, Rows::kState, of_state_.data());
    parts_[0].dense.BackwardBias(of_state_.data(), h, b);
  }

 private:
  void Sum(FusedPass& pass, Rows rows, float* y) {
    bool add = false;
    for (FusedPart& part : parts_) {
      if (part.rows != rows) continue;
      part.Forward(pass, y, add);
      add = true;
    }
    if (!add) std::fill_n(y, pass.Count(rows) * pass.At(output_).width, 0.0F);
  }
  void AddParts(FusedPass& pass, Rows rows, float* y) {
    for (FusedPart& part : parts_) {
      if (part.rows == rows) {
        part.Forward(pass, y, true, &part == last_ ? activation_ : Epilogue::kNone);
      }
    }
  }
  void BackwardParts(FusedPass& pass, Rows rows, const float* dy) {
    for (FusedPart& part : parts_) {
      if (part.rows == rows) part.Backward(pass, dy);
    }
  }

  std::vector<FusedPart> parts_;
  const FusedPart* last_ = nullptr;  // to be added
  Value output_;
  Epilogue activation_;
  // What they add to a row of pairs, then its gradient: [n, H], [b, G, H], [b, H]
  AlignedFloats of_job_, of_type_, of_state_;
};

// One number a pair, of its job, itself and its type, onto another value where one is given.
class SpreadColumn final : public FusedStep {
 public:
  SpreadColumn(const LayerViews& views, const NetworkStep& step)
      : parts_(views.Parts(step)), output_(step.output), onto_(step.onto) {}

  void Refresh() override {
    for (FusedPart& part : parts_) part.dense.Refresh(part.computed);
  }

  void Forward(FusedPass& pass) override {
    const std::ptrdiff_t g = pass.types;
    float* y = pass.Out(output_);
    const float* of_jobs = Column(pass, Rows::kJob, of_jobs_);
    const float* of_pairs = Column(pass, Rows::kPair, of_pairs_);
    const float* of_types = Column(pass, Rows::kType, of_types_);
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
      part.Backward(pass, part.rows == Rows::kJob    ? of_jobs_.data()
                          : part.rows == Rows::kPair ? dy
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

  const float* Column(FusedPass& pass, Rows rows, AlignedFloats& column) {
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
  Value output_, onto_;
  AlignedFloats of_jobs_, of_pairs_, of_types_;  // [n], [n, G], [b, G]; then gradients of jobs and types
};

}  // namespace

std::unique_ptr<FusedStep> FusedSpread(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<SpreadStep>(views, step);
}

std::unique_ptr<FusedStep> FusedSpreadColumn(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<SpreadColumn>(views, step);
}

}  // namespace berth
