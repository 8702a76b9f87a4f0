// Dense layers over values side by side. Where these have rows of several kinds the layer is computed in
// parts: a job's share once a job, a type's once a type, and only a pair's own share once a pair.
#include <algorithm>
#include <array>

#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {
namespace {

// The share of one input: the layer's inputs first .. first + count - 1.
struct Part {
  ValueId value;
  RowOf rows;
  int first, count;
};

std::vector<Part> PartsOf(const NetworkDescription& net, const NetworkStep& step) {
  std::vector<Part> parts;
  int first = 0;
  for (const ValueId input : step.inputs) {
    const NetworkValue& value = net.values()[U(input)];
    parts.push_back({input, value.rows, first, value.width});
    first += value.width;
  }
  return parts;
}

bool OfOneKind(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& p) { return p.rows == parts[0].rows; });
}

// Weights transposed to [inputs, outputs].
Dense LoadDense(const PolicyBundle& bundle, int layer) {
  const NamedArray &weight = bundle.arrays[2 * U(layer)], &bias = bundle.arrays[2 * U(layer) + 1];
  Dense dense;
  dense.outputs = static_cast<int>(weight.shape[0]);
  dense.inputs = static_cast<int>(weight.shape[1]);
  dense.bias = bias.values;
  dense.weight.resize(weight.values.size());
  const std::size_t inputs = U(dense.inputs), outputs = U(dense.outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) dense.weight[i * outputs + o] = weight.values[o * inputs + i];
  }
  return dense;
}

class DenseStep {
 public:
  DenseStep(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle& bundle)
      : layer_(LoadDense(bundle, step.layer)),
        parts_(PartsOf(net, step)),
        rows_(net.values()[U(step.output)].rows),
        spread_(rows_ == RowOf::kPair && !OfOneKind(parts_)),
        output_(step.output),
        onto_(step.onto),
        activation_(step.activation) {
    for (const Part& part : parts_) of_state_ = of_state_ || part.rows == RowOf::kState;
    base_.resize(layer_.bias.size());
  }

  void operator()(PlainRun& run) {
    const std::size_t h = base_.size(), rows = run.Count(rows_);
    float* out = run.write[U(output_)];
    const std::span<float> all(out, rows * h);
    if (rows_ == RowOf::kState) {
      Base(run, out);
    } else if (rows_ == RowOf::kPair) {
      if (run.begin == 0) Share(run);
      spread_ ? Spread(run, out) : Fill(all);
      AddPairs(run, out);
    } else {
      Base(run, base_.data());
      Fill(all);
      AddParts(run, rows_, rows, out);
    }
    if (onto_ >= 0) {
      const float* onto = run.read[U(onto_)];
      for (std::size_t i = 0; i < all.size(); ++i) out[i] += onto[i];
    }
    Activate(activation_, all);
  }

 private:
  // What the pairs of a job share, and those of a type. The bias belongs to the state's part, which is the
  // types'; where nothing of the state is read, to the jobs'.
  void Share(const PlainRun& run) {
    Base(run, base_.data());
    if (!spread_) return;
    const std::size_t h = base_.size(), types = run.Count(RowOf::kType), jobs = run.jobs.size();
    type_part_.assign(types * h, 0.0F);
    job_part_.assign(jobs * h, 0.0F);
    Fill(of_state_ ? type_part_ : job_part_);
    AddParts(run, RowOf::kType, types, type_part_.data());
    AddParts(run, RowOf::kJob, jobs, job_part_.data());
  }

  // The bias and the share of the state, one row.
  void Base(const PlainRun& run, float* row) const {
    std::copy(layer_.bias.begin(), layer_.bias.end(), row);
    if (of_state_) AddParts(run, RowOf::kState, 1, row);
  }
  void Fill(std::span<float> rows) const {
    if (base_.size() == 1) return std::fill(rows.begin(), rows.end(), base_[0]);  // not a call a float
    for (std::size_t at = 0; at < rows.size(); at += base_.size()) {
      std::copy(base_.begin(), base_.end(), rows.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  void AddParts(const PlainRun& run, RowOf of, std::size_t rows, float* out) const {
    for (const Part& part : parts_) {
      if (part.rows == of) Add(part, run.read[U(part.value)], rows, out);
    }
  }
  void Add(const Part& part, const float* x, std::size_t rows, float* out) const {
    MultiplyAdd(x, static_cast<int>(rows), part.count, layer_.Inputs(part.first), layer_.outputs, out);
  }

  void Spread(const PlainRun& run, float* out) const {
    const std::size_t h = base_.size(), types = run.Count(RowOf::kType);
    for (std::size_t job = run.begin; job < run.end; ++job) {
      for (std::size_t type = 0; type < types; ++type, out += h) {
        for (std::size_t i = 0; i < h; ++i) out[i] = type_part_[type * h + i] + job_part_[job * h + i];
      }
    }
  }

  // Jobs that stand side by side in the queue, as their pairs then do in the observation, share a product.
  void AddPairs(const PlainRun& run, float* out) const {
    const std::size_t types = run.Count(RowOf::kType);
    for (const Part& part : parts_) {
      if (part.rows != RowOf::kPair) continue;
      const float* x = run.read[U(part.value)];
      if (part.value != NetworkDescription::pairs()) {
        Add(part, x, (run.end - run.begin) * types, out);
        continue;
      }
      for (std::size_t job = run.begin; job < run.end;) {
        std::size_t last = job + 1;
        while (last < run.end && run.jobs[last] == run.jobs[last - 1] + 1) ++last;
        Add(part, x + U(run.jobs[job]) * types * U(part.count), (last - job) * types,
            out + (job - run.begin) * types * base_.size());
        job = last;
      }
    }
  }

  Dense layer_;
  std::vector<Part> parts_;
  RowOf rows_;   // of the output
  bool spread_;  // it has rows of pairs, and not all inputs have
  bool of_state_ = false;
  ValueId output_, onto_;
  Activation activation_;
  std::vector<float> base_, type_part_, job_part_;  // [H], [G, H], [n, H]
};

// The axes that a value lacks beside rows of another kind.
std::vector<std::int64_t> MissingAxes(RowOf from, RowOf to) {
  if (from == to) return {};
  if (to != RowOf::kPair) return {1};
  if (from == RowOf::kState) return {1, 2};
  return {from == RowOf::kJob ? 2 : 1};
}

}  // namespace

PlainStep PlainDense(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle& bundle) {
  return DenseStep(net, step, bundle);
}

std::string OnnxDense(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const Dense layer = LoadDense(run.bundle, step.layer);
  const RowOf rows = run.At(step.output).rows;
  const auto product = [&](const std::string& x, int first, int count) {
    const std::array<std::int64_t, 2> shape = {count, layer.outputs};
    const std::span<const float> weights(layer.Inputs(first), U(count) * U(layer.outputs));
    return graph.Node("MatMul", {x, graph.Tensor(weights, shape)});
  };
  const std::vector<Part> parts = PartsOf(run.net, step);
  std::string sum;
  if (OfOneKind(parts)) {
    std::vector<std::string> names;
    for (const Part& part : parts) names.push_back(run.Name(part.value));
    const std::int64_t last = rows == RowOf::kPair ? 3 : rows == RowOf::kState ? 1 : 2;
    sum = product(names.size() == 1 ? names[0] : graph.Node("Concat", names, {{"axis", {last}}}), 0,
                  layer.inputs);
  } else {
    for (const Part& part : parts) {
      std::string share = product(run.Name(part.value), part.first, part.count);
      const std::vector<std::int64_t> axes = MissingAxes(part.rows, rows);
      if (!axes.empty()) share = graph.Node("Unsqueeze", {share, graph.Integers(axes)});
      sum = sum.empty() ? share : graph.Node("Add", {sum, share});
    }
  }
  const std::array<std::int64_t, 1> shape = {layer.outputs};
  sum = graph.Node("Add", {sum, graph.Tensor(layer.bias, shape)});
  if (step.onto >= 0) sum = graph.Node("Add", {run.Name(step.onto), sum});
  if (step.activation == Activation::kNone) return sum;
  return graph.Node(step.activation == Activation::kRelu ? "Relu" : "Tanh", {sum});
}

}  // namespace berth
