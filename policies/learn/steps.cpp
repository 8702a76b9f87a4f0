#include "policies/learn/steps.hpp"

#include "env/base/check.hpp"

namespace berth {
namespace {

torch::Tensor Sum(const torch::Tensor& sum, const torch::Tensor& term) {
  return sum.defined() ? sum + term : term;
}

// A layer over inputs of several kinds of rows, in parts, without its activation.
torch::Tensor Spread(TorchRun& run, const NetworkStep& step, const DenseModule& layer) {
  const bool over_pairs = run.About(step.output).rows == RowOf::kPair;
  torch::Tensor sum, of_types, of_state;  // sum: onto it, and the parts of jobs and pairs
  if (step.onto >= 0) sum = run.At(step.onto);
  torch::Tensor own;
  std::int64_t first = 0;
  for (const ValueId input : step.inputs) {
    const NetworkValue& value = run.About(input);
    torch::Tensor x = run.At(input);
    if (value.rows == RowOf::kJob && over_pairs) x = x.flatten(0, 1).index_select(0, run.rows);
    const torch::Tensor part = layer.Part(x, first);
    if (value.rows == RowOf::kState) {
      of_state = Sum(of_state, part);
    } else if (value.rows == RowOf::kType && over_pairs) {
      of_types = Sum(of_types, part);
    } else {
      own = Sum(own, value.rows == RowOf::kJob && over_pairs ? part.unsqueeze(1) : part);
    }
    first += value.width;
  }
  sum = Sum(sum, own);
  torch::Tensor shared = of_state.defined() ? (of_state + layer.bias).unsqueeze(1) : layer.bias;
  if (of_types.defined()) shared = of_types + shared;
  if (over_pairs && shared.dim() > 1) shared = shared.index_select(0, run.batch);
  return sum + shared;
}

}  // namespace

TorchRun::TorchRun(const NetworkDescription& described,
                   const std::vector<std::shared_ptr<DenseModule>>& modules, const torch::Tensor& stored,
                   bool fixed_shapes)
    : net(described),
      layers(modules),
      fixed(fixed_shapes),
      values(described.values().size()),
      kept(described.values().size()) {
  const torch::Tensor observation = net.memory() > 0 ? stored.narrow(1, 0, net.layout().size()) : stored;
  values[NetworkDescription::observation()] = observation;
  if (net.memory() > 0)
    values[NetworkDescription::state()] = stored.narrow(1, net.layout().size(), net.memory());
  if (!net.ReadsBlocks()) return;
  const ObservationLayout& layout = net.layout();
  const std::int64_t b = observation.size(0), q = layout.q, g = layout.g;
  const std::int64_t fj = layout.job_channels, fp = layout.pair_channels, ft = layout.type_channels;
  const torch::Tensor jobs = observation.narrow(1, layout.jobs_offset(), q * fj).reshape({b, q, fj});
  const torch::Tensor pairs =
      observation.narrow(1, layout.pairs_offset(), q * g * fp).reshape({b * q, g, fp});
  present = jobs.narrow(2, 0, 1).ne(0).to(torch::kFloat);
  rows = fixed ? torch::arange(b * q, observation.options().dtype(torch::kInt64))
               : present.flatten().nonzero().squeeze(1);
  batch = rows.div(q, "floor");
  values[NetworkDescription::jobs()] = jobs;
  values[NetworkDescription::pairs()] = pairs.index_select(0, rows);
  values[NetworkDescription::types()] =
      observation.narrow(1, layout.types_offset(), g * ft).reshape({b, g, ft});
  values[NetworkDescription::global()] =
      observation.narrow(1, layout.global_offset(), layout.global_channels);
}

torch::Tensor TorchRun::Kept(ValueId value) {
  torch::Tensor& found = kept[static_cast<std::size_t>(value)];
  if (!found.defined()) found = At(value) * present;
  return found;
}

torch::Tensor TorchDense(TorchRun& run, const NetworkStep& step) {
  const DenseModule& layer = *run.layers[static_cast<std::size_t>(step.layer)];
  std::vector<torch::Tensor> inputs;
  bool of_one_kind = step.onto < 0;
  for (const ValueId input : step.inputs) {
    inputs.push_back(run.At(input));
    of_one_kind = of_one_kind && run.About(input).rows == run.About(step.output).rows;
  }
  const torch::Tensor y = of_one_kind ? layer.Forward(inputs.size() == 1 ? inputs[0] : torch::cat(inputs, -1))
                                      : Spread(run, step, layer);
  return step.activation == Activation::kNone   ? y
         : step.activation == Activation::kRelu ? torch::relu(y)
                                                : torch::tanh(y);
}

torch::Tensor TorchMean(TorchRun& run, const NetworkStep& step) {
  const ValueId x = step.inputs[0];
  if (run.About(x).rows != RowOf::kJob) return run.At(x).mean(1);
  return run.Kept(x).sum(1) / run.present.sum(1).clamp_min(1.0);
}

torch::Tensor TorchMax(TorchRun& run, const NetworkStep& step) {
  return (run.Kept(step.inputs[0]) + (1.0 - run.present) * Floor(step.activation)).amax(1);
}

torch::Tensor TorchActions(TorchRun& run, const NetworkStep& step) {
  const ObservationLayout& layout = run.net.layout();
  const std::int64_t rows = run.present.numel(), width = layout.g * run.About(step.inputs[0]).width;
  torch::Tensor found = run.At(step.inputs[0]);
  if (run.fixed) found = found * run.present.reshape({rows, 1, 1});
  return torch::zeros({rows, width}, found.options())
      .index_copy(0, run.rows, found.flatten(1))
      .reshape({rows / layout.q, layout.q * width});
}

torch::Tensor TorchGate(TorchRun& run, const NetworkStep& step) {
  const torch::Tensor open = torch::sigmoid(run.At(step.inputs[0])), kept = open * run.At(step.inputs[1]);
  return step.inputs.size() == 2 ? kept : kept + (1.0 - open) * run.At(step.inputs[2]);
}

torch::Tensor TorchConcat(TorchRun& run, const NetworkStep& step) {
  std::vector<torch::Tensor> inputs;
  for (const ValueId input : step.inputs) inputs.push_back(run.At(input));
  return torch::cat(inputs, 1);
}

}  // namespace berth
