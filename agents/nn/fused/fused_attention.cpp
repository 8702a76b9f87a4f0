// Normalised rows, points and attention, a state at a time.
#include <algorithm>
#include <array>
#include <cmath>

#include "agents/nn/fused/fused_pass.hpp"

namespace berth {
namespace {

using kernels::Kernels;

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

class NormalizeStep final : public FusedStep {
 public:
  explicit NormalizeStep(const NetworkStep& step)
      : input_(step.inputs[0]), output_(step.output), groups_(step.groups) {}

  void Forward(FusedPass& pass) override {
    const std::size_t rows = Rows(pass);
    FusedPass::Fit(factor_, static_cast<std::ptrdiff_t>(rows));
    Kernels().normalize(pass.At(input_).data, rows, Width(pass), kNormEpsilon, pass.Out(output_),
                        factor_.data());
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    Kernels().normalize_backward(pass.At(output_).data, factor_.data(), dy, Rows(pass), Width(pass),
                                 pass.GradientOf(input_));
    pass.Given(input_);
  }

 private:
  std::size_t Rows(const FusedPass& pass) const { return U(pass.Count(pass.At(input_).rows) * groups_); }
  std::size_t Width(const FusedPass& pass) const { return U(pass.At(input_).width / groups_); }

  ValueId input_, output_;
  std::ptrdiff_t groups_;
  AlignedFloats factor_;  // [rows x groups]
};

class PointsStep final : public FusedStep {
 public:
  explicit PointsStep(const NetworkStep& step)
      : input_(step.inputs[0]), output_(step.output), groups_(step.groups) {}

  void Forward(FusedPass& pass) override {
    const float* x = pass.At(input_).data;
    float* y = pass.Out(output_);
    EachPart(pass, [&](std::ptrdiff_t of_state, std::ptrdiff_t of_point, std::ptrdiff_t count) {
      std::copy_n(x + of_state, count, y + of_point);
    });
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    float* dx = pass.GradientOf(input_);
    EachPart(pass, [&](std::ptrdiff_t of_state, std::ptrdiff_t of_point, std::ptrdiff_t count) {
      std::copy_n(dy + of_point, count, dx + of_state);
    });
    pass.Given(input_);
  }

 private:
  // f(first in the state's row, first in the point's, how many)
  template <class F>
  void EachPart(const FusedPass& pass, const F& f) const {
    const std::ptrdiff_t width = pass.At(output_).width, part = width / groups_, points = pass.points;
    for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
      for (std::ptrdiff_t g = 0; g < groups_; ++g) {
        for (std::ptrdiff_t p = 0; p < points; ++p) {
          f(s * points * width + (g * points + p) * part, (s * points + p) * width + g * part, part);
        }
      }
    }
  }

  ValueId input_, output_;
  std::ptrdiff_t groups_;
};

// Rows of one head and state in a value: `rows` of them, `ld` floats apart.
struct HeadRows {
  float* data;
  std::ptrdiff_t rows, ld;
};

class AttendStep final : public FusedStep {
 public:
  AttendStep(const NetworkStep& step, double* multiply_adds)
      : multiply_adds_(multiply_adds),
        queries_(step.inputs[0]),
        keys_(step.inputs[1]),
        values_(step.inputs[2]),
        output_(step.output),
        heads_(step.groups) {}

  void Forward(FusedPass& pass) override {
    pass.Out(output_);
    MakeRoom(pass);
    float* weights = weights_.data();
    EachHead(pass, [&](std::ptrdiff_t s, std::ptrdiff_t h) {
      const HeadRows q = Rows(pass, queries_, pass.At(queries_).data, s, h),
                     k = Rows(pass, keys_, pass.At(keys_).data, s, h),
                     v = Rows(pass, values_, pass.At(values_).data, s, h),
                     y = Rows(pass, output_, pass.At(output_).data, s, h);
      const std::ptrdiff_t part = pass.At(values_).width / heads_, ld = Padded(k.rows);
      if (k.rows == 0) {
        for (std::ptrdiff_t i = 0; i < y.rows; ++i) std::fill_n(y.data + i * y.ld, part, 0.0F);
        return;
      }
      // Columns beyond the keys are products with 0.
      const std::ptrdiff_t head = pass.At(queries_).width / heads_;
      Product(q, false, head, Transposed(k, head, ld), ld, {weights, q.rows, ld}, ld);
      Kernels().softmax_rows({weights, U(q.rows), U(k.rows), U(ld), Scale(head)});
      Product({weights, q.rows, ld}, false, k.rows, v.data, v.ld, y, part);
      weights += q.rows * ld;
    });
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    std::array<float*, 3> d = {};
    const std::array<ValueId, 3> inputs = {queries_, keys_, values_};
    for (std::size_t i = 0; i < 3; ++i) {  // in its place, or beside what others gave already
      const FusedValue& input = pass.At(inputs[i]);
      if (input.has_gradient) FusedPass::Fit(gradients_[i], pass.Count(input.rows) * input.width);
      d[i] = input.has_gradient ? gradients_[i].data() : pass.GradientOf(inputs[i]);
    }
    float* weights = weights_.data();
    EachHead(pass, [&](std::ptrdiff_t s, std::ptrdiff_t h) {
      const HeadRows q = Rows(pass, queries_, pass.At(queries_).data, s, h),
                     k = Rows(pass, keys_, pass.At(keys_).data, s, h),
                     v = Rows(pass, values_, pass.At(values_).data, s, h),
                     dq = Rows(pass, queries_, d[0], s, h), dk = Rows(pass, keys_, d[1], s, h),
                     dv = Rows(pass, values_, d[2], s, h);
      const HeadRows out = Rows(pass, output_, const_cast<float*>(dy), s, h);  // only read
      const std::ptrdiff_t head = pass.At(queries_).width / heads_, part = pass.At(values_).width / heads_,
                           ld = Padded(k.rows);
      if (k.rows == 0) {
        for (std::ptrdiff_t i = 0; i < q.rows; ++i) std::fill_n(dq.data + i * dq.ld, head, 0.0F);
        return;
      }
      FusedPass::Fit(slopes_, q.rows * ld);
      const HeadRows given = {weights, q.rows, ld}, slopes = {slopes_.data(), q.rows, ld};
      Product(out, false, part, Transposed(v, part, ld), ld, slopes, ld);
      Product(given, true, q.rows, out.data, out.ld, dv, part);
      Kernels().softmax_rows_backward({slopes_.data(), U(q.rows), U(k.rows), U(ld), Scale(head)}, weights);
      Product(slopes, false, k.rows, k.data, k.ld, dq, head);
      Product(slopes, true, q.rows, q.data, q.ld, dk, head);
      weights += q.rows * ld;
    });
    for (std::size_t i = 0; i < 3; ++i) {
      const FusedValue& input = pass.At(inputs[i]);
      if (input.has_gradient)
        std::copy_n(d[i], pass.Count(input.rows) * input.width, pass.GradientOf(inputs[i]));
      pass.Given(inputs[i]);
    }
  }

 private:
  static float Scale(std::ptrdiff_t head) { return 1.0F / std::sqrt(static_cast<float>(head)); }
  // To whole vectors.
  static std::ptrdiff_t Padded(std::ptrdiff_t rows) {
    const std::ptrdiff_t lanes = Kernels().panel / 2;
    return (rows + lanes - 1) / lanes * lanes;
  }
  template <class F>
  void EachHead(const FusedPass& pass, const F& f) const {
    for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
      for (std::ptrdiff_t h = 0; h < heads_; ++h) f(s, h);
    }
  }
  HeadRows Rows(const FusedPass& pass, ValueId value, float* data, std::ptrdiff_t s, std::ptrdiff_t h) const {
    const FusedValue& of = pass.At(value);
    const std::ptrdiff_t first = pass.First(of.rows, s);
    return {data + first * of.width + h * (of.width / heads_), pass.First(of.rows, s + 1) - first, of.width};
  }
  void MakeRoom(const FusedPass& pass) {
    std::ptrdiff_t size = 0;
    EachHead(pass, [&](std::ptrdiff_t s, std::ptrdiff_t) {
      const auto count = [&](ValueId value) {
        return pass.First(pass.At(value).rows, s + 1) - pass.First(pass.At(value).rows, s);
      };
      size += count(queries_) * Padded(count(keys_));
    });
    FusedPass::Fit(weights_, size);
  }
  // [columns, ld], 0 beyond the rows of x.
  const float* Transposed(const HeadRows& x, std::ptrdiff_t columns, std::ptrdiff_t ld) {
    FusedPass::Fit(transposed_, columns * ld);
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      float* to = transposed_.data() + c * ld;
      for (std::ptrdiff_t r = 0; r < x.rows; ++r) to[r] = x.data[r * x.ld + c];
      std::fill(to + x.rows, to + ld, 0.0F);
    }
    return transposed_.data();
  }
  // c [c.rows, columns] = a [c.rows, inner] b [inner, columns], rows of b `ldb` apart; or of `transposed` a
  // [inner, c.rows] its transpose.
  void Product(const HeadRows& a, bool transposed, std::ptrdiff_t inner, const float* b, std::ptrdiff_t ldb,
               const HeadRows& c, std::ptrdiff_t columns) const {
    *multiply_adds_ += static_cast<double>(c.rows * columns * inner);
    Kernels().gemm({.m = c.rows,
                    .n = columns,
                    .k = inner,
                    .a = a.data,
                    .lda = a.ld,
                    .a_columns = transposed,
                    .b = b,
                    .ldb = ldb,
                    .panel_stride = Kernels().panel,
                    .c = c.data,
                    .ldc = c.ld,
                    .bias = nullptr,
                    .add = false});
  }

  double* multiply_adds_;
  ValueId queries_, keys_, values_, output_;
  std::ptrdiff_t heads_;
  AlignedFloats weights_;              // of the last Forward, a state and head after the other: [n, padded m]
  AlignedFloats slopes_, transposed_;  // of one state and head
  std::array<AlignedFloats, 3> gradients_;  // of queries, keys and values
};

}  // namespace

std::unique_ptr<FusedStep> FusedNormalize(const NetworkStep& step) {
  return std::make_unique<NormalizeStep>(step);
}

std::unique_ptr<FusedStep> FusedPoints(const NetworkStep& step) {
  return std::make_unique<PointsStep>(step);
}

std::unique_ptr<FusedStep> FusedAttend(const LayerViews& views, const NetworkStep& step) {
  return std::make_unique<AttendStep>(step, views.multiply_adds());
}

}  // namespace berth
