// Means and maxima over the rows of a state. In ONNX, where the rows of absent jobs are computed too, they
// are set to 0 before a mean and to the least value of the activation before a maximum.
#include <algorithm>

#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {
namespace {

// out[i] = f(... f(f(start, x[0][i]), x[1][i]) ...) over rows of `width`, some columns at once in registers.
template <class F>
void Fold(const float* x, std::size_t rows, std::size_t width, float start, float* out, const F& f) {
  constexpr std::size_t kColumns = 16;
  std::size_t i = 0;
  for (; i + kColumns <= width; i += kColumns) {
    float columns[kColumns];
    std::fill_n(columns, kColumns, start);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t k = 0; k < kColumns; ++k) columns[k] = f(columns[k], x[row * width + i + k]);
    }
    std::copy_n(columns, kColumns, out + i);
  }
  for (; i < width; ++i) {
    out[i] = start;
    for (std::size_t row = 0; row < rows; ++row) out[i] = f(out[i], x[row * width + i]);
  }
}

const std::string& Kept(OnnxRun& run, ValueId value) {
  run.kept.resize(run.name.size());
  std::string& kept = run.kept[U(value)];
  if (kept.empty()) kept = run.graph.Node("Mul", {run.Name(value), run.present});
  return kept;
}

std::string SumOverJobs(OnnxRun& run, const std::string& x) {
  return run.graph.Node("ReduceSum", {x, run.graph.Integers({1})}, {{"keepdims", {0}}});
}

}  // namespace

PlainStep PlainMean(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  const NetworkValue& of = net.values()[U(step.inputs[0])];
  return [rows_of = of.rows, width = U(of.width), input = U(step.inputs[0]),
          output = U(step.output)](PlainRun& run) {
    const std::size_t rows = run.Count(rows_of);
    const auto count = static_cast<float>(std::max<std::size_t>(rows, 1));
    float* mean = run.write[output];
    Fold(run.read[input], rows, width, 0.0F, mean, [](float sum, float x) { return sum + x; });
    for (std::size_t i = 0; i < width; ++i) mean[i] /= count;
  };
}

PlainStep PlainMax(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  return [width = U(net.values()[U(step.output)].width), floor = Floor(step.activation),
          input = U(step.inputs[0]), output = U(step.output)](PlainRun& run) {
    Fold(run.read[input], run.jobs.size(), width, floor, run.write[output],
         [](float most, float x) { return std::max(most, x); });
  };
}

std::string OnnxMean(OnnxRun& run, const NetworkStep& step) {
  const ValueId x = step.inputs[0];
  if (run.At(x).rows != RowOf::kJob) {
    return run.graph.Node("ReduceMean", {run.Name(x)}, {{"axes", {1}, true}, {"keepdims", {0}}});
  }
  const std::string kept = Kept(run, x);
  const std::string count = run.graph.Node("Max", {SumOverJobs(run, run.present), run.one});
  return run.graph.Node("Div", {SumOverJobs(run, kept), count});
}

std::string OnnxMax(OnnxRun& run, const NetworkStep& step) {
  const std::string kept = Kept(run, step.inputs[0]);
  const std::string absent = run.graph.Node("Sub", {run.one, run.present});
  const std::string floor = run.graph.Node("Mul", {absent, run.graph.Float(Floor(step.activation))});
  return run.graph.Node("ReduceMax", {run.graph.Node("Add", {kept, floor})},
                        {{"axes", {1}, true}, {"keepdims", {0}}});
}

}  // namespace berth
