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

class MeanStep final : public PlainStep {
 public:
  MeanStep(const NetworkValue& of, const NetworkStep& step)
      : rows_(of.rows), width_(U(of.width)), input_(step.inputs[0]), output_(step.output) {}

  void Run(PlainRun& run) override {
    const std::size_t rows = run.Count(rows_);
    const auto count = static_cast<float>(std::max<std::size_t>(rows, 1));
    float* mean = run.write[U(output_)];
    Fold(run.read[U(input_)], rows, width_, 0.0F, mean, [](float sum, float x) { return sum + x; });
    for (std::size_t i = 0; i < width_; ++i) mean[i] /= count;
  }

 private:
  Rows rows_;
  std::size_t width_;
  Value input_, output_;
};

class MaxStep final : public PlainStep {
 public:
  MaxStep(const NetworkValue& of, const NetworkStep& step)
      : width_(U(of.width)), floor_(Floor(step.activation)), input_(step.inputs[0]), output_(step.output) {}

  void Run(PlainRun& run) override {
    Fold(run.read[U(input_)], run.jobs.size(), width_, floor_, run.write[U(output_)],
         [](float most, float x) { return std::max(most, x); });
  }

 private:
  std::size_t width_;
  float floor_;
  Value input_, output_;
};

const std::string& Kept(OnnxRun& run, Value value) {
  run.kept.resize(run.name.size());
  std::string& kept = run.kept[U(value)];
  if (kept.empty()) kept = run.graph.Node("Mul", {run.Name(value), run.present});
  return kept;
}

std::string SumOverJobs(OnnxRun& run, const std::string& x) {
  return run.graph.Node("ReduceSum", {x, run.graph.Integers({1})}, {{"keepdims", {0}}});
}

}  // namespace

std::unique_ptr<PlainStep> PlainMean(const NetworkDescription& net, const NetworkStep& step,
                                     const PolicyBundle&) {
  return std::make_unique<MeanStep>(net.values()[U(step.inputs[0])], step);
}

std::unique_ptr<PlainStep> PlainMax(const NetworkDescription& net, const NetworkStep& step,
                                    const PolicyBundle&) {
  return std::make_unique<MaxStep>(net.values()[U(step.inputs[0])], step);
}

std::string OnnxMean(OnnxRun& run, const NetworkStep& step) {
  const Value x = step.inputs[0];
  if (run.At(x).rows == Rows::kType) {
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
