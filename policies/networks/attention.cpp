// Normalised rows, points and attention. Without LibTorch sums run in one fixed order, and exponentials are
// our own, so that the bits are those of every machine. In ONNX, where the rows of absent jobs are computed
// too, their keys weigh nothing.
#include <algorithm>
#include <cmath>

#include "env/base/batch_math.hpp"
#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {
namespace {

constexpr std::size_t kLanes = 16;  // sums side by side

// f(x[0]) + f(x[1]) + ...
template <class F>
float Sum(const float* x, std::size_t n, const F& f) {
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += f(x[i + k]);
  }
  for (std::size_t k = 0; i < n; ++i, ++k) lanes[k] += f(x[i]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

class AttendStep {
 public:
  AttendStep(const NetworkDescription& net, const NetworkStep& step)
      : heads_(U(step.groups)), input_(step.inputs), output_(step.output) {
    const auto about = [&](std::size_t i) { return net.values()[U(step.inputs[i])]; };
    queries_ = about(0).rows, keys_ = about(1).rows;
    width_ = U(about(0).width), value_width_ = U(about(2).width);
  }

  void operator()(PlainRun& run) {
    const std::size_t n = run.Count(queries_), m = run.Count(keys_);
    const std::size_t head = width_ / heads_, part = value_width_ / heads_;
    float* out = run.write[U(output_)];
    std::fill_n(out, n * value_width_, 0.0F);
    if (m == 0) return;
    weights_.resize(n * m), exps_.resize(m);
    for (std::size_t h = 0; h < heads_; ++h) {
      Part(run.read[U(input_[0])] + h * head, n, width_, head, query_);
      const float scale = 1.0F / std::sqrt(static_cast<float>(head));
      for (float& x : query_) x *= scale;
      const float* keys = run.read[U(input_[1])] + h * head;
      key_.resize(head * m);
      for (std::size_t j = 0; j < m; ++j) {
        for (std::size_t k = 0; k < head; ++k) key_[k * m + j] = keys[j * width_ + k];
      }
      std::fill(weights_.begin(), weights_.end(), 0.0F);
      MultiplyAdd(query_.data(), static_cast<int>(n), static_cast<int>(head), key_.data(),
                  static_cast<int>(m), weights_.data());
      for (std::size_t i = 0; i < n; ++i) Softmax(weights_.data() + i * m, m);
      Part(run.read[U(input_[2])] + h * part, m, value_width_, part, value_);
      mean_.assign(n * part, 0.0F);
      MultiplyAdd(weights_.data(), static_cast<int>(n), static_cast<int>(m), value_.data(),
                  static_cast<int>(part), mean_.data());
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(mean_.data() + i * part, part, out + i * value_width_ + h * part);
      }
    }
  }

 private:
  // `width` columns of rows that are `stride` apart.
  static void Part(const float* x, std::size_t rows, std::size_t stride, std::size_t width,
                   std::vector<float>& to) {
    to.resize(rows * width);
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(x + r * stride, width, to.data() + r * width);
  }
  void Softmax(float* row, std::size_t m) {
    const float most = *std::max_element(row, row + m);
    for (std::size_t j = 0; j < m; ++j) exps_[j] = static_cast<double>(row[j] - most);
    Exps(exps_);
    double sum = 0.0;
    for (const double e : exps_) sum += e;
    for (std::size_t j = 0; j < m; ++j) row[j] = static_cast<float>(exps_[j] / sum);
  }

  std::size_t heads_, width_ = 0, value_width_ = 0;
  RowOf queries_ = RowOf::kJob, keys_ = RowOf::kJob;
  std::vector<ValueId> input_;
  ValueId output_;
  std::vector<float> query_, key_, value_, weights_,
      mean_;                  // of one head: [n, h], [h, m], [m, h], [n, m], [n, h]
  std::vector<double> exps_;  // [m]
};

// [B, n, width] as [B, heads, n, width / heads], or with `order` its axes otherwise.
std::string Heads(OnnxRun& run, const std::string& x, int heads, const std::vector<std::int64_t>& order) {
  const std::string parts = run.graph.Node("Reshape", {x, run.graph.Integers({0, 0, heads, -1})});
  return run.graph.Node("Transpose", {parts}, {{"perm", order, true}});
}

}  // namespace

PlainStep PlainNormalize(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  const NetworkValue& of = net.values()[U(step.output)];
  return [rows_of = of.rows, groups = U(step.groups), width = U(of.width / step.groups),
          input = U(step.inputs[0]), output = U(step.output)](PlainRun& run) {
    const float* x = run.read[input];
    float* y = run.write[output];
    const auto count = static_cast<float>(width);
    for (std::size_t row = 0; row < run.Count(rows_of) * groups; ++row, x += width, y += width) {
      const float mean = Sum(x, width, [](float v) { return v; }) / count;
      const float variance = Sum(x, width, [&](float v) { return (v - mean) * (v - mean); }) / count;
      const float scale = 1.0F / std::sqrt(variance + kNormEpsilon);
      for (std::size_t i = 0; i < width; ++i) y[i] = (x[i] - mean) * scale;
    }
  };
}

PlainStep PlainPoints(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  const std::size_t groups = U(step.groups), points = U(net.points());
  return [groups, points, part = U(net.values()[U(step.output)].width) / groups, input = U(step.inputs[0]),
          output = U(step.output)](PlainRun& run) {
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t p = 0; p < points; ++p) {
        std::copy_n(run.read[input] + (g * points + p) * part, part,
                    run.write[output] + (p * groups + g) * part);
      }
    }
  };
}

PlainStep PlainAttend(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  return AttendStep(net, step);
}

std::string OnnxNormalize(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const std::vector<OnnxAttribute> last = {{"axes", {-1}, true}, {"keepdims", {1}}};
  std::string x = run.Name(step.inputs[0]);
  if (step.groups > 1) x = graph.Node("Reshape", {x, graph.Integers({0, 0, step.groups, -1})});
  const std::string centred = graph.Node("Sub", {x, graph.Node("ReduceMean", {x}, last)});
  const std::string variance = graph.Node("ReduceMean", {graph.Node("Mul", {centred, centred})}, last);
  const std::string deviation =
      graph.Node("Sqrt", {graph.Node("Add", {variance, graph.Float(kNormEpsilon)})});
  const std::string normal = graph.Node("Div", {centred, deviation});
  return step.groups > 1 ? graph.Node("Reshape", {normal, graph.Integers({0, 0, -1})}) : normal;
}

std::string OnnxPoints(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const std::int64_t points = run.net.points();
  const std::string parts =
      graph.Node("Reshape", {run.Name(step.inputs[0]), graph.Integers({0, step.groups, points, -1})});
  return graph.Node("Reshape", {graph.Node("Transpose", {parts}, {{"perm", {0, 2, 1, 3}, true}}),
                                graph.Integers({0, points, -1})});
}

std::string OnnxAttend(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const int heads = step.groups;
  const ValueId queries = step.inputs[0], keys = step.inputs[1], values = step.inputs[2];
  const float scale = 1.0F / std::sqrt(static_cast<float>(run.At(queries).width / heads));
  const std::string q =
      graph.Node("Mul", {Heads(run, run.Name(queries), heads, {0, 2, 1, 3}), graph.Float(scale)});
  std::string scores = graph.Node("MatMul", {q, Heads(run, run.Name(keys), heads, {0, 2, 3, 1})});
  std::string present;
  if (run.At(keys).rows == RowOf::kJob) {
    // [B, 1, 1, Q]
    present = graph.Node("Unsqueeze", {graph.Node("Transpose", {run.present}, {{"perm", {0, 2, 1}, true}}),
                                       graph.Integers({1})});
    const std::string absent = graph.Node("Sub", {present, run.one});
    scores = graph.Node("Add", {scores, graph.Node("Mul", {absent, graph.Float(kAbsentKey)})});
  }
  std::string weights = graph.Node("Softmax", {scores}, {{"axis", {-1}}});
  if (!present.empty()) weights = graph.Node("Mul", {weights, present});  // where nobody is present
  const std::string mean = graph.Node("MatMul", {weights, Heads(run, run.Name(values), heads, {0, 2, 1, 3})});
  return graph.Node("Reshape", {graph.Node("Transpose", {mean}, {{"perm", {0, 2, 1, 3}, true}}),
                                graph.Integers({0, 0, -1})});
}

}  // namespace berth
